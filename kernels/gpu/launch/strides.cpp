#include "kernels/gpu/launch/strides.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace attn::gpu {

void take_strides(TensorSpec& spec, const Buffers& buffers) {
  const std::array<std::int64_t, 3>& given = buffers.strides[spec.tensor];
  if (given != std::array<std::int64_t, 3>{}) std::ranges::copy(given, spec.strides.begin());
}

std::vector<TensorSpec> tensors_at(const Problem& p, const Buffers& buffers) {
  std::vector<TensorSpec> specs = tensors_of(p);
  for (TensorSpec& spec : specs) take_strides(spec, buffers);
  return specs;
}

}  // namespace attn::gpu
