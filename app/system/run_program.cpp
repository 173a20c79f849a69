#include "app/system/run_program.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/system/posix.h"
#include "kernels/base/folders.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr int kLookAgainMs = 50, kExecFailed = 127;
constexpr std::size_t kMaxWords = 4096;  // kept of stderr

// An end of a pipe.
class End {
 public:
  explicit End(int descriptor = -1) : descriptor_(descriptor) {}
  End(End&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  End& operator=(End&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() { close(); }
  int descriptor() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

struct PipeEnds {
  End read, write;
};
Result<PipeEnds> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(ErrorKind::cannot_run, phrase("cannot create a pipe: {}", std::strerror(errno)));
  return PipeEnds{End(ends[0]), End(ends[1])};
}

// Killed and waited for, whatever happens.
class Process {
 public:
  explicit Process(pid_t id) : id_(id) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (id_ < 0) return;
    ::kill(id_, SIGKILL);
    wait();
  }
  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return status;
  }

 private:
  pid_t id_;
};

// Reads what is there; false at the end.
bool read_some(End& end, std::string& to) {
  std::array<char, 65536> piece{};
  const ssize_t n = ::read(end.descriptor(), piece.data(), piece.size());
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  to.append(piece.data(), static_cast<std::size_t>(n));
  return true;
}

struct Words {
  std::string out, error;
};

// As exec wants them: each word, then a null. They point into `words`.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& w : words) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What a program gets in place of this one's; -1: the same.
struct Streams {
  int in = -1, out = -1, error = -1;
};

// Forks and runs it; an empty folder: this one's.
Result<pid_t> start_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                          const Streams& streams, const std::filesystem::path& folder = {}) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const std::vector<char*> pointers = pointers_to(words);
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0)
    return fail(ErrorKind::cannot_run,
                phrase("cannot start {}: {}", program.filename().string(), std::strerror(errno)));
  if (id > 0) return id;
  // Only calls that are safe between fork and exec.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExecFailed);
  if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(kExecFailed);
  if (streams.in >= 0) ::dup2(streams.in, STDIN_FILENO);
  if (streams.out >= 0) ::dup2(streams.out, STDOUT_FILENO);
  if (streams.error >= 0) ::dup2(streams.error, STDERR_FILENO);
  ::execv(pointers[0], pointers.data());
  ::_exit(kExecFailed);
}

// Until both pipes are closed.
Result<void> read_all(PipeEnds& out, PipeEnds& error, const std::string& name, const Deadline& deadline,
                      std::size_t max_bytes, Words& words) {
  const auto begin = std::chrono::steady_clock::now();
  while (out.read.open() || error.read.open()) {
    std::array<pollfd, 2> wanted{{{out.read.descriptor(), POLLIN, 0}, {error.read.descriptor(), POLLIN, 0}}};
    const int ready = ::poll(wanted.data(), wanted.size(), kLookAgainMs);
    if (ready < 0 && errno != EINTR) return fail(ErrorKind::failed, fmt::format("{}: {}", name, std::strerror(errno)));
    if (deadline.stop.stop_requested()) return fail(ErrorKind::cancelled, phrase("{} was cancelled", name));
    const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (deadline.seconds > 0 && waited > deadline.seconds)
      return fail(ErrorKind::failed, phrase("{} took more than {:g} s and was stopped", name, deadline.seconds));
    if (ready <= 0) continue;
    if (wanted[0].revents != 0 && !read_some(out.read, words.out)) out.read.close();
    if (wanted[1].revents != 0 && !read_some(error.read, words.error)) error.read.close();
    if (words.error.size() > kMaxWords) words.error.erase(0, words.error.size() - kMaxWords);
    if (words.out.size() > max_bytes)
      return fail(ErrorKind::failed, phrase("{} printed more than {} bytes and was stopped", name, max_bytes));
  }
  return ok();
}

// How a program ended that did not end well, with its own words.
tl::unexpected<Error> ended(const std::string& name, int status, std::string said) {
  while (!said.empty() && said.back() == '\n') said.pop_back();
  const std::string end = !WIFEXITED(status)                   ? tr("was killed by a signal")
                          : WEXITSTATUS(status) == kExecFailed ? tr("could not be started")
                                                               : phrase("ended with {}", WEXITSTATUS(status));
  return fail(ErrorKind::failed, fmt::format("{} {}{}{}", name, end, said.empty() ? "" : ": ", said));
}

}  // namespace

Result<std::string> output_of(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                              const Deadline& deadline, std::size_t max_bytes, const std::filesystem::path& folder) {
  const std::string name = program.filename().string();
  auto out = make_pipe(), error = make_pipe();
  if (!out) return tl::unexpected(out.error());
  if (!error) return tl::unexpected(error.error());
  const auto id =
      start_child(program, arguments, {.out = out->write.descriptor(), .error = error->write.descriptor()}, folder);
  if (!id) return tl::unexpected(id.error());
  Process process(*id);
  out->write.close();
  error->write.close();
  Words said;
  if (auto read = read_all(*out, *error, name, deadline, max_bytes, said); !read) return tl::unexpected(read.error());
  const int status = process.wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return std::move(said.out);
  return ended(name, status, said.error);
}

std::filesystem::path program_in_path(const std::string& name) {
  std::istringstream folders(environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path file = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (can_run(file)) return file;
  }
  return {};
}

// Its stdin is a socket: to write where nobody reads is an error then, not a signal.
struct FedProgram::Impl {
  Impl(std::string program, End to, End from, pid_t id)
      : name(std::move(program)), in(std::move(to)), error(std::move(from)), process(id) {}
  // Waits until it takes more, or has ended; reads what it says meanwhile. False: it takes no more.
  Result<bool> look(bool more, const std::stop_token& stop);
  Result<void> end();

  std::string name, said;
  End in, error;
  Process process;
};

Result<bool> FedProgram::Impl::look(bool more, const std::stop_token& stop) {
  std::array<pollfd, 2> wanted{{{error.descriptor(), POLLIN, 0}, {in.descriptor(), POLLOUT, 0}}};
  const int ready = ::poll(wanted.data(), more ? 2 : 1, kLookAgainMs);
  if (ready < 0 && errno != EINTR) return fail(ErrorKind::failed, fmt::format("{}: {}", name, std::strerror(errno)));
  if (stop.stop_requested()) return fail(ErrorKind::cancelled, phrase("{} was cancelled", name));
  if (ready <= 0) return true;
  if (wanted[0].revents != 0 && !read_some(error, said)) return false;
  if (said.size() > kMaxWords) said.erase(0, said.size() - kMaxWords);
  return true;
}

Result<void> FedProgram::Impl::end() {
  const int status = process.wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return ok();
  return ended(name, status, said);
}

FedProgram::FedProgram(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FedProgram::FedProgram(FedProgram&&) noexcept = default;
FedProgram& FedProgram::operator=(FedProgram&&) noexcept = default;
FedProgram::~FedProgram() = default;

Result<FedProgram> FedProgram::start(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(ErrorKind::cannot_run, phrase("cannot create a pipe: {}", std::strerror(errno)));
  End mine(ends[0]), its(ends[1]);
  auto error = make_pipe();
  if (!error) return tl::unexpected(error.error());
  const End nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const auto id = start_child(program, arguments, {its.descriptor(), nowhere.descriptor(), error->write.descriptor()});
  if (!id) return tl::unexpected(id.error());
  return FedProgram(std::make_unique<Impl>(program.filename().string(), std::move(mine), std::move(error->read), *id));
}

Result<void> FedProgram::feed(std::span<const std::byte> bytes, const std::stop_token& stop) {
  while (!bytes.empty()) {
    const auto goes_on = impl_->look(true, stop);
    if (!goes_on) return tl::unexpected(goes_on.error());
    const ssize_t n =
        *goes_on ? ::send(impl_->in.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
    if (n >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else if (!*goes_on || (errno != EAGAIN && errno != EINTR)) {
      if (auto end = finish(stop); !end) return end;
      return fail(ErrorKind::failed, phrase("{} ended before it had read all of its input", impl_->name));
    }
  }
  return ok();
}

Result<void> FedProgram::finish(const std::stop_token& stop) {
  impl_->in.close();
  for (;;) {
    const auto goes_on = impl_->look(false, stop);
    if (!goes_on) return tl::unexpected(goes_on.error());
    if (!*goes_on) return impl_->end();
  }
}

Error replace_process(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ::execvp(program.c_str(), pointers_to(words).data());
  return {ErrorKind::cannot_run, phrase("cannot start {}: {}.", program, std::strerror(errno))};
}

}  // namespace attn
