// Images to PNG files: the one place where stb_image_write is compiled.
#include <cstddef>
#include <span>
#include <vector>

// Static: the Dear ImGui test engine brings the same symbols.
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include "app/graphics/image.h"
#include "kernels/base/files.h"
#include "kernels/base/text.h"

namespace attn {

Result<void> write_png(const std::filesystem::path& file, const Image& image) {
  std::vector<std::byte> bytes;
  const auto append = [](void* to, void* data, int size) {
    const auto* first = static_cast<const std::byte*>(data);
    auto& out = *static_cast<std::vector<std::byte>*>(to);
    out.insert(out.end(), first, first + size);
  };
  if (stbi_write_png_to_func(append, &bytes, image.width, image.height, 4, image.rgba.data(), image.width * 4) == 0) {
    return fail(ErrorKind::failed, tr("Cannot encode the picture as PNG."));
  }
  return write_file_atomically(file, bytes);
}

}  // namespace attn
