// An animated GIF out of pictures of one size. Each frame has its own 256 colours and holds the changed part alone.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "app/graphics/image.h"
#include "kernels/base/result.h"

namespace attn {

class GifWriter {
 public:
  // Kept in memory until finish(): a GIF that is not whole is never on disk. It repeats for ever.
  static Result<GifWriter> create(int width, int height);
  GifWriter(GifWriter&&) noexcept;
  GifWriter& operator=(GifWriter&&) noexcept;
  ~GifWriter();

  // GIF counts hundredths of a second; many viewers show less than two as ten.
  Result<void> add(const Image& image, double seconds);
  Result<std::vector<std::byte>> finish();

 private:
  struct Impl;
  explicit GifWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attn
