// Pixels, and PNG files of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

// Row 0 on top, RGBA, 8 bits each, not premultiplied.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

Result<void> write_png(const std::filesystem::path& file, const Image& image);

}  // namespace attn
