#include "kernels/gpu/rungs/rows.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/gpu/rungs/common.h"

namespace attn::gpu {

// Each made in the file of its rung.
KernelRow naive_row();
KernelRow tiled_row();
KernelRow flash_simt_row();
KernelRow flash_wmma_row();
KernelRow flash_mma_row();
KernelRow flash_tf32x3_row();

std::span<const KernelRow> gpu_kernel_table() {
  // The ladder's rungs on a GPU, in its order.
  static const std::array kTable = {
      naive_row(), tiled_row(), flash_simt_row(), flash_wmma_row(), flash_mma_row(), flash_tf32x3_row(),
  };
  return kTable;
}

Result<Device> device_for(std::string_view arch) {
  const auto known = architectures();
  if (std::ranges::find(known, arch) == known.end()) {
    return bad_input(fmt::format("architecture {} is not known; there are {}.", arch, fmt::join(known, ", ")));
  }
  Device d;
  d.processor = Processor::gpu;
  d.name = arch;
  d.arch = arch;
  return d;
}

}  // namespace attn::gpu
