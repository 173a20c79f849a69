// A file in the system's temporary folder that is gone with the object.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "kernels/base/result.h"

namespace attn {

class TemporaryFile {
 public:
  // `name` and some letters that no other has.
  static Result<TemporaryFile> make(const std::string& name, std::span<const std::byte> bytes);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFile(std::filesystem::path path);
  std::filesystem::path path_;
};

}  // namespace attn
