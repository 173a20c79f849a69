// The name of a file to write: what it is goes behind it where it does not stand there.
#pragma once

#include <filesystem>
#include <system_error>

namespace attn {

inline std::filesystem::path with_extension(std::filesystem::path file, const char* extension) {
  if (!file.empty() && file.extension() != extension) file += extension;
  return file;
}

// As it is told to who looks for the file.
inline std::filesystem::path whole_path(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path whole = std::filesystem::absolute(file, error);
  return error ? file : whole.lexically_normal();
}

}  // namespace attn
