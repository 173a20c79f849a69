#include "kernels/base/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/bytes.h"
#include "kernels/base/hash.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// A descriptor that is closed on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  // Closes now; false where the file system reports an error only then (NFS, quotas).
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// A temporary file that is gone unless it was renamed.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!kept_) ::unlink(path_.c_str());
  }
  const fs::path& path() const { return path_; }
  void keep() { kept_ = true; }

 private:
  fs::path path_;
  bool kept_ = false;
};

enum class Doing : std::uint8_t { reading, writing };

const char* advice(int error, Doing doing) {
  if (doing == Doing::reading && (error == EACCES || error == EPERM))
    return tr(" You do not have permission to read the file; try chmod u+r.");
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return tr(" Free some space or choose another folder.");
    case EACCES:
    case EPERM:
    case EROFS:
      return tr(" Choose a folder you can write to.");
    case ENOENT:
    case ENOTDIR:
      return tr(" Check the path.");
    default:
      return "";
  }
}

tl::unexpected<Error> failure(Doing doing, const fs::path& file, int error) {
  const std::string why = std::error_code(error, std::generic_category()).message();
  return fail(ErrorKind::io, doing == Doing::reading
                                 ? phrase("Cannot read {}: {}.{}", file.string(), why, advice(error, doing))
                                 : phrase("Cannot write {}: {}.{}", file.string(), why, advice(error, doing)));
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

// One piece after the other, until there is one without bytes.
using Pieces = std::function<std::span<const std::byte>()>;

bool write_all(int fd, const Pieces& next) {
  for (std::span<const std::byte> piece = next(); !piece.empty(); piece = next())
    if (!write_all(fd, piece)) return false;
  return true;
}

Result<void> write_in_place(const fs::path& file, const Pieces& next) {
  Descriptor out(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!out.open()) return failure(Doing::writing, file, errno);
  if (!write_all(out.get(), next) || !out.close()) return failure(Doing::writing, file, errno);
  return ok();
}

constexpr std::string_view kTemporaryPrefix = ".attnscope-", kTemporarySuffix = ".tmp", kLockSuffix = ".lock";

// The name is short whatever the target's is, so that a name of 255 bytes can be written too.
fs::path temporary_name(const fs::path& folder, int attempt) {
  return folder / fmt::format("{}{}-{}{}", kTemporaryPrefix, ::getpid(), attempt, kTemporarySuffix);
}

// ".attnscope-PID-N.tmp" or ".attnscope-HASH.lock", and nothing that a user may have called so.
bool is_temporary_name(std::string_view name) {
  if (!name.starts_with(kTemporaryPrefix)) return false;
  name.remove_prefix(kTemporaryPrefix.size());
  for (const auto& [suffix, letters] : {std::pair(kTemporarySuffix, std::string_view("0123456789-")),
                                        std::pair(kLockSuffix, std::string_view("0123456789abcdef"))}) {
    if (!name.ends_with(suffix)) continue;
    const std::string_view rest = name.substr(0, name.size() - suffix.size());
    return !rest.empty() && rest.find_first_not_of(letters) == std::string_view::npos;
  }
  return false;
}

// Whether `file` still names what was opened.
bool still_named(int descriptor, const fs::path& file) {
  struct stat held {
  }, named{};
  return ::fstat(descriptor, &held) == 0 && ::lstat(file.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

// A temporary file that is ours alone: locked as long as it is open, so that nobody takes it for a dead process's.
// -1 where none can be made; errno says why.
int open_temporary(const fs::path& folder, fs::path& name) {
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    name = temporary_name(folder, attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno != EEXIST) return -1;
    if (fd < 0) continue;
    // File systems without locks are written to all the same: there a name is taken for nobody's only if it can be
    // locked, which it cannot.
    (void)::flock(fd, LOCK_EX | LOCK_NB);
    struct stat status {};
    if (::fstat(fd, &status) == 0 && status.st_nlink > 0) return fd;
    ::close(fd);  // swept between its making and its lock
  }
  errno = EEXIST;
  return -1;
}

// So that the rename survives a power cut. The file is whole and in place already, so a file system that cannot
// sync a folder is no error.
void sync_folder(const fs::path& folder) {
  const Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.open()) ::fsync(handle.get());
}

Result<void> replace_file(const fs::path& file, const Pieces& next, const struct stat* old) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  sweep_temporaries(folder);
  fs::path name;
  const int fd = open_temporary(folder, name);
  if (fd < 0) return failure(Doing::writing, file, errno);
  Descriptor out(fd);
  Temporary temporary(std::move(name));

  // The permissions of the file that is replaced; where they cannot be had, those of a new file do.
  if (old != nullptr && ::fchmod(out.get(), old->st_mode & 07777) != 0) errno = 0;
  if (!write_all(out.get(), next) || ::fsync(out.get()) != 0) return failure(Doing::writing, file, errno);
  // Renamed while it is open, and so locked. What a file system says only when it is closed comes a moment late: by
  // then fsync has said that the bytes are there.
  if (::rename(temporary.path().c_str(), file.c_str()) != 0) return failure(Doing::writing, file, errno);
  temporary.keep();
  if (!out.close()) return failure(Doing::writing, file, errno);
  sync_folder(folder);
  return ok();
}

}  // namespace

InputFile::InputFile(int descriptor, std::uint64_t size, fs::path file)
    : descriptor_(descriptor), size_(size), file_(std::move(file)) {}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), file_(std::move(other.file_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(file_, other.file_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<InputFile> InputFile::open(const fs::path& file) {
  // Without O_NONBLOCK opening a pipe would wait for its other end.
  Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!in.open()) return failure(Doing::reading, file, errno);
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) return failure(Doing::reading, file, errno);
  if (!S_ISREG(status.st_mode)) {
    return bad_input(phrase("Cannot read {}: it is {}, not a regular file.", file.string(),
                            S_ISDIR(status.st_mode) ? "a folder" : tr("a pipe or device")));
  }
  return InputFile(in.release(), static_cast<std::uint64_t>(status.st_size), file);
}

Result<void> InputFile::read(std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t n = ::read(descriptor_, out.data(), out.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return failure(Doing::reading, file_, errno);
    }
    if (n == 0) {
      return fail(ErrorKind::io, phrase("{} was truncated while being read; try again.", file_.string()));
    }
    out = out.subspan(static_cast<std::size_t>(n));
  }
  return ok();
}

Result<void> make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && fs::is_directory(folder, error)) return ok();
  return bad_input(phrase("Cannot create folder {}: {}.", folder.string(),
                          error ? error.message() : tr("a file with that name already exists")));
}

Result<std::vector<std::byte>> read_file(const fs::path& file, std::uint64_t max_bytes) {
  Result<InputFile> in = InputFile::open(file);
  if (!in) return tl::unexpected(in.error());
  if (in->size() > max_bytes) {
    return bad_input(
        phrase("{} has {}; the limit is {}.", file.string(), format_bytes(in->size()), format_bytes(max_bytes)));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(in->size()));
  if (auto r = in->read(bytes); !r) return tl::unexpected(r.error());
  return bytes;
}

fs::path lock_of(const fs::path& file) {
  std::error_code error;
  fs::path target = fs::weakly_canonical(fs::absolute(file, error), error);
  if (error || target.empty()) target = file;
  const std::string name =
      fmt::format("{}{}{}", kTemporaryPrefix, short_hash_of(target.filename().native()), kLockSuffix);
  return target.parent_path() / name;
}

void sweep_temporaries(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!is_temporary_name(it->path().filename().native())) continue;
    const Descriptor left(::open(it->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    // Another may have swept it meanwhile, and a third made a new one of that name, which is its own.
    const bool ours = left.open() && ::flock(left.get(), LOCK_EX | LOCK_NB) == 0;
    if (ours && still_named(left.get(), it->path())) ::unlink(it->path().c_str());
  }
}

bool is_read_only(const fs::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if ((status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) return true;
  return ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) != 0 &&
         (errno == EACCES || errno == EPERM || errno == EROFS);
}

Result<void> write_file_atomically(const fs::path& file, const Pieces& next) {
  struct stat status {};
  const bool exists = ::stat(file.c_str(), &status) == 0;
  if (!exists) return replace_file(file, next, nullptr);
  if (S_ISDIR(status.st_mode)) return failure(Doing::writing, file, EISDIR);
  if (!S_ISREG(status.st_mode)) return write_in_place(file, next);
  if (is_read_only(file)) {
    return fail(ErrorKind::io,
                phrase("Cannot write {}: it is read-only. Make it writable or name another file.", file.string()));
  }
  std::error_code error;
  const fs::path target = fs::canonical(file, error);
  return replace_file(error ? file : target, next, &status);
}

Result<void> write_file_atomically(const fs::path& file, std::span<const std::byte> bytes) {
  return write_file_atomically(file, [rest = bytes]() mutable { return std::exchange(rest, {}); });
}

}  // namespace attn
