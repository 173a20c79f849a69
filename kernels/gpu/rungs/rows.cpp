#include "kernels/gpu/rungs/rows.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/text.h"

namespace attn::gpu {

Result<Device> device_for(std::string_view arch) {
  const auto known = architectures();
  if (std::ranges::find(known, arch) == known.end()) {
    return bad_input(phrase("unknown architecture {}; use {}.", arch, fmt::join(known, ", ")));
  }
  Device d;
  d.processor = Processor::gpu;
  d.name = arch;
  d.arch = arch;
  return d;
}

}  // namespace attn::gpu
