// A lock between processes. The system lets go of it when its holder ends, however it ends.
#pragma once

#include <filesystem>
#include <optional>

#include "kernels/base/result.h"

namespace attn {

// Held as long as the object lives; then its file is deleted. One holder a machine, also within one process.
class FileLock {
 public:
  // None where somebody holds it. The error (io) names the file where it cannot be made.
  static Result<std::optional<FileLock>> take(const std::filesystem::path& file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  FileLock(int descriptor, std::filesystem::path file);
  void release();

  int descriptor_ = -1;
  std::filesystem::path file_;
};

}  // namespace attn
