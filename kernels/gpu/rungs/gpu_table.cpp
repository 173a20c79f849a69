// The table of the GPU's kernels and nothing else, so that a test program may link one of its own in its place.
#include <array>
#include <span>

#include "kernels/gpu/rungs/rows.h"

namespace attn::gpu {

// Each made in the file of its rung.
KernelRow naive_row();
KernelRow tiled_row();
KernelRow flash_simt_row();
KernelRow flash_wmma_row();
KernelRow flash_mma_row();
KernelRow flash_hopper_row();
KernelRow flash_tf32x3_row();

std::span<const KernelRow> gpu_kernel_table() {
  // The ladder's rungs on a GPU, in its order.
  static const std::array kTable = {
      naive_row(),     tiled_row(),        flash_simt_row(),   flash_wmma_row(),
      flash_mma_row(), flash_hopper_row(), flash_tf32x3_row(),
  };
  return kTable;
}

}  // namespace attn::gpu
