#include "app/graphics/gl.h"

#include <algorithm>
#include <cstddef>

#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr unsigned kRendererName = 0x1F01, kVersionName = 0x1F02, kColorBufferBit = 0x4000, kRgba = 0x1908,
                   kUnsignedByte = 0x1401, kPackAlignment = 0x0D05;

}  // namespace

Result<Gl> Gl::load(Loader loader) {
  Gl gl;
  const char* missing = nullptr;
  const auto need = [&]<class F>(const char* name, F& function) {
    function = reinterpret_cast<F>(loader(name));
    if (function == nullptr) missing = name;
  };
  need("glGetString", gl.get_string_);
  need("glClearColor", gl.clear_color_);
  need("glClear", gl.clear_);
  need("glFinish", gl.finish_);
  need("glViewport", gl.viewport_);
  need("glPixelStorei", gl.pixel_store_);
  need("glReadPixels", gl.read_pixels_);
  if (missing != nullptr) return fail(ErrorKind::cannot_run, phrase("OpenGL has no {}.", missing));
  return gl;
}

std::string Gl::renderer() const {
  const auto text = [&](unsigned name) {
    const unsigned char* words = get_string_(name);
    return words == nullptr ? std::string("?") : std::string(reinterpret_cast<const char*>(words));
  };
  const std::string version = text(kVersionName);
  return text(kRendererName) + ", OpenGL " + version.substr(0, version.find(' '));
}

void Gl::clear(int width, int height, unsigned abgr) const {
  const auto channel = [&](int shift) { return static_cast<float>((abgr >> shift) & 0xffU) / 255.0F; };
  viewport_(0, 0, width, height);
  clear_color_(channel(0), channel(8), channel(16), 1);
  clear_(kColorBufferBit);
}

void Gl::finish() const {
  finish_();
}

Image Gl::read_pixels(int width, int height) const {
  Image image;
  image.width = width;
  image.height = height;
  const auto row = static_cast<std::size_t>(width) * 4;
  image.rgba.resize(row * static_cast<std::size_t>(height));
  pixel_store_(kPackAlignment, 1);
  read_pixels_(0, 0, width, height, kRgba, kUnsignedByte, image.rgba.data());
  // OpenGL's first row is the lowest.
  for (std::size_t top = 0, low = static_cast<std::size_t>(height); top + 1 < low--; ++top) {
    const auto at = [&](std::size_t y) { return image.rgba.begin() + static_cast<std::ptrdiff_t>(y * row); };
    std::swap_ranges(at(top), at(top + 1), at(low));
  }
  // What is behind the picture does not shine through it.
  for (std::size_t alpha = 3; alpha < image.rgba.size(); alpha += 4) image.rgba[alpha] = 255;
  return image;
}

}  // namespace attn
