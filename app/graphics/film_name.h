// What a name asks for where several steps are saved.
#pragma once

#include <filesystem>
#include <string>

#include "kernels/base/letters.h"

namespace attn {

inline bool names_gif(const std::filesystem::path& file) {
  return same_letters(file.extension().string(), ".gif");
}

// A film, which another program encodes.
inline bool names_film(const std::filesystem::path& file) {
  const std::string kind = file.extension().string();
  return same_letters(kind, ".mp4") || same_letters(kind, ".webm");
}

}  // namespace attn
