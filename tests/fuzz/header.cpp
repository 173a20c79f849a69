// No text makes the readers of a user's kernel throw or crash, and one that is taken comes back the same from the text
// that a session keeps of it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kernels/gpu/rungs/own_kernel.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto kernel = attn::gpu::own_kernel_from("mine.cu", text);
  if (!kernel) {
    if (kernel.error().message.empty()) std::abort();
    return 0;
  }
  const auto again = attn::gpu::own_kernel_from("mine.cu", attn::gpu::file_text(**kernel));
  if (!again || (*again)->name != (*kernel)->name) std::abort();
  return 0;
}
