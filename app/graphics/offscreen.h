// An OpenGL 3.3 context with no display: EGL on a GPU or on Mesa's software renderer. libEGL is opened at run time, so
// that the program starts, and says what is missing, where there is none.
#pragma once

#include <memory>
#include <string>

#include "app/graphics/image.h"
#include "kernels/base/result.h"

namespace attn {

class Offscreen {
 public:
  // The context is current in the calling thread until the object dies.
  static Result<Offscreen> create(int width, int height);
  Offscreen(Offscreen&&) noexcept;
  Offscreen& operator=(Offscreen&&) noexcept;
  ~Offscreen();

  int width() const;
  int height() const;
  std::string renderer() const;     // "llvmpipe (LLVM 15.0.6, 256 bits), OpenGL 4.5"
  void clear(unsigned abgr) const;  // as Dear ImGui packs colours
  void finish() const;              // waits until all is drawn
  Image read_pixels() const;

 private:
  struct Impl;
  explicit Offscreen(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// What `doctor` prints: the renderer, or which library is missing and the package that brings it.
Result<std::string> check_offscreen();

}  // namespace attn
