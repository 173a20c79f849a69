// The page's files are its own: nobody else can hold them.
#include "app/system/file_lock.h"

#include <utility>

namespace attn {

FileLock::FileLock(int descriptor, std::filesystem::path file) : descriptor_(descriptor), file_(std::move(file)) {}
FileLock::FileLock(FileLock&& other) noexcept = default;
FileLock& FileLock::operator=(FileLock&& other) noexcept = default;
FileLock::~FileLock() = default;
void FileLock::release() {}

Result<std::optional<FileLock>> FileLock::take(const std::filesystem::path& file, int) {
  return std::optional<FileLock>(FileLock(-1, file));
}

Result<FileLock> FileLock::of_file(const std::filesystem::path& file) {
  return FileLock(-1, file);
}

}  // namespace attn
