#include "app/system/file_lock.h"

#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/base/files.h"
#include "kernels/base/text.h"

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

Result<std::optional<FileLock>> FileLock::take(const std::filesystem::path& file, int tries) {
  constexpr auto kPause = std::chrono::milliseconds(10);
  while (true) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) {
      return fail(ErrorKind::io, phrase("Cannot create {}: {}.", file.string(),
                                        std::error_code(errno, std::generic_category()).message()));
    }
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      const int why = errno;
      ::close(descriptor);
      if (why != EWOULDBLOCK) {
        return fail(ErrorKind::io, phrase("Cannot lock {}: {}.", file.string(),
                                          std::error_code(why, std::generic_category()).message()));
      }
      if (--tries <= 0) return std::nullopt;
      std::this_thread::sleep_for(kPause);
      continue;
    }
    if (still_named(descriptor, file)) return std::optional(FileLock(descriptor, file));
    ::close(descriptor);
  }
}

Result<FileLock> FileLock::of_file(const std::filesystem::path& file) {
  auto lock = take(lock_of(file), kTries);
  if (!lock) return tl::unexpected(lock.error());
  std::optional<FileLock> held = *std::move(lock);
  if (held) return *std::move(held);
  return fail(ErrorKind::cannot_run,
              phrase("Another process is writing to {}; wait for it, or name another file.", file.string()));
}

}  // namespace attn
