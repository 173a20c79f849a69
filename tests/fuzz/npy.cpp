// No bytes make the .npy reader crash, allocate more than they hold, or accept what it would not write back.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "kernels/formats/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  constexpr std::uint64_t kMaxBytes = 1 << 24;
  for (const auto to :
       {std::optional<attn::DType>(), std::optional(attn::DType::f16), std::optional(attn::DType::bf16)}) {
    const auto array = attn::parse_npy(bytes, "fuzz.npy", kMaxBytes, to);
    if (!array) {
      if (array.error().message.empty()) std::abort();
      continue;
    }
    const auto written = attn::npy_bytes(*array, array->shape());
    const auto again = attn::parse_npy(written, "again.npy", 2 * kMaxBytes, array->dtype());
    if (!again || !(*again == *array)) std::abort();
  }
  return 0;
}
