#include "app/system/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/system/posix.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr std::array<char, 8> kMagic{'a', 't', 't', 'n', 'm', 's', 'g', '1'};
// Grown by what has arrived, never by what a header claims.
constexpr std::uint64_t kPiece = 64ULL << 20;
constexpr int kLookAgainMs = 50;
constexpr int kExecFailed = 127;

struct Header {
  std::array<char, 8> magic{};
  std::uint64_t text = 0, bytes = 0;
};

tl::unexpected<NoMessage> no_reply(NoReply why, std::string words) {
  return tl::unexpected(NoMessage{why, std::move(words)});
}

class Waiting {
 public:
  explicit Waiting(const Deadline& p) : deadline_(p), begin_(std::chrono::steady_clock::now()) {}
  // Waits until the descriptor is ready for `events`. Stop and deadline come first: the other side may send for ever.
  tl::expected<void, NoMessage> wait(int descriptor, short events) const {
    while (true) {
      if (deadline_.stop.stop_requested()) return no_reply(NoReply::stopped, tr("it was cancelled"));
      const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
      if (deadline_.seconds > 0 && waited > deadline_.seconds) {
        return no_reply(NoReply::too_late, phrase("no answer within {:g} s", deadline_.seconds));
      }
      pollfd one{descriptor, events, 0};
      const int ready = ::poll(&one, 1, kLookAgainMs);
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) return no_reply(NoReply::broken, std::strerror(errno));
    }
  }

 private:
  const Deadline& deadline_;
  std::chrono::steady_clock::time_point begin_;
};

tl::expected<void, NoMessage> write_all(int descriptor, std::span<const std::byte> bytes, const Waiting& waiting) {
  while (!bytes.empty()) {
    if (auto good = waiting.wait(descriptor, POLLOUT); !good) return good;
    const ssize_t n = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return no_reply(NoReply::closed, std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

tl::expected<void, NoMessage> read_all(int descriptor, std::span<std::byte> bytes, const Waiting& waiting) {
  while (!bytes.empty()) {
    if (auto good = waiting.wait(descriptor, POLLIN); !good) return good;
    const ssize_t n = ::recv(descriptor, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n == 0) return no_reply(NoReply::closed, tr("the other side closed the connection"));
    if (n < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return no_reply(NoReply::closed, std::strerror(errno));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

struct SocketPair {
  Socket ours, theirs;
  int their_descriptor = -1;
};
Result<SocketPair> socket_pair() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(ErrorKind::cannot_run, phrase("cannot connect to a worker: {}", std::strerror(errno)));
  }
  return SocketPair{Socket(ends[0]), Socket(ends[1]), ends[1]};
}

// In the child: it ends with its parent.
void follow_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExecFailed);
}

// In the child: from kChildSocket on, open beyond exec. One may lie where another shall be, so first all are copied to
// beyond their places.
void put_descriptors(std::vector<int>& descriptors) {
  const int count = static_cast<int>(descriptors.size());
  for (int& d : descriptors) d = ::fcntl(d, F_DUPFD_CLOEXEC, kChildSocket + count);
  for (int n = 0; n < count; ++n) ::dup2(descriptors[static_cast<std::size_t>(n)], kChildSocket + n);
}

std::string words_of(int status) {
  if (WIFEXITED(status)) return phrase("exit code {}", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) return phrase("signal {}", WTERMSIG(status));
  return tr("unknown exit status");
}

}  // namespace

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

tl::expected<void, NoMessage> Socket::send(const std::string& text, std::span<const std::span<const std::byte>> bytes,
                                           const Deadline& deadline) {
  const Waiting waiting(deadline);
  Header header{kMagic, text.size(), 0};
  for (const auto& part : bytes) header.bytes += part.size();
  auto sent = write_all(descriptor_, std::as_bytes(std::span(&header, 1)), waiting);
  if (sent) sent = write_all(descriptor_, std::as_bytes(std::span(text)), waiting);
  for (const auto& part : bytes) {
    if (sent) sent = write_all(descriptor_, part, waiting);
  }
  return sent;
}

tl::expected<Message, NoMessage> Socket::receive(const Deadline& deadline, const MessageLimit& most) {
  const Waiting waiting(deadline);
  Header header;
  auto got = read_all(descriptor_, std::as_writable_bytes(std::span(&header, 1)), waiting);
  if (!got) return tl::unexpected(got.error());
  if (header.magic != kMagic || header.text > most.text || header.bytes > most.bytes) {
    return no_reply(NoReply::broken, tr("the message received is not from AttnScope"));
  }
  Message m;
  m.text.resize(header.text);
  got = read_all(descriptor_, std::as_writable_bytes(std::span(m.text)), waiting);
  while (got && m.bytes.size() < header.bytes) {
    const std::size_t before = m.bytes.size();
    m.bytes.resize(before + std::min(kPiece, header.bytes - before));
    got = read_all(descriptor_, std::span(m.bytes).subspan(before), waiting);
  }
  if (!got) return tl::unexpected(got.error());
  return m;
}

Result<std::pair<Socket, Socket>> Socket::pair() {
  auto made = socket_pair();
  if (!made) return tl::unexpected(made.error());
  return std::pair{std::move(made->ours), std::move(made->theirs)};
}

Result<Child> Child::start(const std::vector<std::string>& arguments, const std::string& program,
                           const std::string& folder, std::span<const Socket* const> given) {
  std::vector<std::string> words{program.empty() ? executable_path().string() : program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& w : words) pointers.push_back(w.data());
  pointers.push_back(nullptr);
  Result<SocketPair> pair = socket_pair();
  if (!pair) return tl::unexpected(pair.error());
  std::vector<int> descriptors{pair->their_descriptor};
  for (const Socket* socket : given) descriptors.push_back(socket->descriptor_);
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) {
    return fail(ErrorKind::cannot_run, phrase("cannot start a worker: {}", std::strerror(errno)));
  }
  if (id == 0) {  // only calls that are safe between fork and exec
    follow_parent(parent);
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(kExecFailed);
    put_descriptors(descriptors);
    ::execv(pointers[0], pointers.data());
    ::_exit(kExecFailed);
  }
  return Child(id, std::move(pair->ours));
}

Result<Child> Child::copy(const std::function<int(Socket&)>& work) {
  Result<SocketPair> pair = socket_pair();
  if (!pair) return tl::unexpected(pair.error());
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) {
    return fail(ErrorKind::cannot_run, phrase("cannot start a worker: {}", std::strerror(errno)));
  }
  if (id == 0) {
    follow_parent(parent);
    { const Socket closed = std::move(pair->ours); }
    ::_exit(work(pair->theirs));
  }
  return Child(id, std::move(pair->ours));
}

Child::Child(Child&& other) noexcept : id_(std::exchange(other.id_, -1)), socket_(std::move(other.socket_)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(socket_, other.socket_);
  return *this;
}

Child::~Child() {
  kill();
}

std::string Child::finish(double seconds) {
  if (id_ < 0) return {};
  { const Socket closed = std::move(socket_); }
  constexpr useconds_t kLookAgainUs = 2000;
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG) == id_) {
      id_ = -1;
      return words_of(status);
    }
    ::usleep(kLookAgainUs);
  }
  return kill();
}

std::string Child::kill() {
  if (id_ < 0) return {};
  ::kill(id_, SIGKILL);
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
  return words_of(status);
}

bool has_hung_up(int descriptor) {
  pollfd end{descriptor, 0, 0};
  return ::poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)) != 0;
}

bool is_stopped(int id) {
  siginfo_t info{};
  const int seen = ::waitid(P_PID, static_cast<id_t>(id), &info, WSTOPPED | WNOHANG | WNOWAIT);
  return seen == 0 && info.si_pid != 0;
}

void end_process(int id) {
  if (id > 0) ::kill(id, SIGKILL);
}

}  // namespace attn
