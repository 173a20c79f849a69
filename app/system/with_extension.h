// The name of a file to write: what it is goes behind it where it does not stand there.
#pragma once

#include <filesystem>

namespace attn {

inline std::filesystem::path with_extension(std::filesystem::path file, const char* extension) {
  if (!file.empty() && file.extension() != extension) file += extension;
  return file;
}

}  // namespace attn
