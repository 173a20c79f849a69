// What a name asks for where several steps are saved, and how their pictures are called.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include <fmt/format.h>

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

// Of one step in a folder of pictures; steps count from 1.
inline std::string picture_of_step(std::size_t step) {
  return fmt::format("step-{:04}.png", step);
}

}  // namespace attn
