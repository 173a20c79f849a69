// A lock between processes. The system lets go of it when its holder ends, however it ends.
#pragma once

#include <filesystem>
#include <optional>

#include "kernels/base/result.h"

namespace attn {

// Held as long as the object lives; then its file is deleted. One holder a machine, also within one process.
class FileLock {
 public:
  // Who looks for what dead processes left tries every lock for a moment: whoever wants one tries so often.
  static constexpr int kTries = 5;
  // None where somebody holds it. The error (io) names the file where it cannot be made.
  static Result<std::optional<FileLock>> take(const std::filesystem::path& file, int tries = 1);
  // The one beside a file that is written (lock_of). cannot_run: another process writes it.
  static Result<FileLock> of_file(const std::filesystem::path& file);
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
