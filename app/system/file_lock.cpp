#include "app/system/file_lock.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace attn {
namespace {

// A holder deletes its file before it lets go: who waited for that file holds one that has no name any more.
bool still_named(int descriptor, const std::filesystem::path& file) {
  struct stat held {
  }, named{};
  return ::fstat(descriptor, &held) == 0 && ::stat(file.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(int descriptor, std::filesystem::path file) : descriptor_(descriptor), file_(std::move(file)) {}

FileLock::FileLock(FileLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), file_(std::move(other.file_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  if (this != &other) {
    release();
    descriptor_ = std::exchange(other.descriptor_, -1);
    file_ = std::move(other.file_);
  }
  return *this;
}

FileLock::~FileLock() {
  release();
}

void FileLock::release() {
  if (descriptor_ < 0) return;
  ::unlink(file_.c_str());  // first: while it is locked nobody else can have taken this file
  ::close(std::exchange(descriptor_, -1));
}

Result<std::optional<FileLock>> FileLock::take(const std::filesystem::path& file) {
  while (true) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) {
      return fail(ErrorKind::io, fmt::format("Cannot make {}: {}.", file.string(),
                                             std::error_code(errno, std::generic_category()).message()));
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      ::close(descriptor);
      if (why == EWOULDBLOCK) return std::nullopt;
      return fail(ErrorKind::io, fmt::format("Cannot lock {}: {}.", file.string(),
                                             std::error_code(why, std::generic_category()).message()));
    }
    if (still_named(descriptor, file)) return std::optional(FileLock(descriptor, file));
    ::close(descriptor);
  }
}

}  // namespace attn
