// The few OpenGL calls that the window and pictures make themselves; Dear ImGui's renderer makes the others.
#pragma once

#include <string>

#include "app/graphics/image.h"
#include "kernels/base/result.h"

namespace attn {

class Gl {
 public:
  using Loader = void* (*)(const char* name);
  // The context is current. The error names the function that is missing.
  static Result<Gl> load(Loader loader);

  std::string renderer() const;  // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"
  void clear(int width, int height, unsigned abgr) const;
  void finish() const;  // waits until all is drawn
  // The buffer that is drawn to, row 0 on top.
  Image read_pixels(int width, int height) const;

 private:
  const unsigned char* (*get_string_)(unsigned) = nullptr;
  void (*clear_color_)(float, float, float, float) = nullptr;
  void (*clear_)(unsigned) = nullptr;
  void (*finish_)() = nullptr;
  void (*viewport_)(int, int, int, int) = nullptr;
  void (*pixel_store_)(unsigned, int) = nullptr;
  void (*read_pixels_)(int, int, int, int, unsigned, unsigned, void*) = nullptr;
};

}  // namespace attn
