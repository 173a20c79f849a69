// The one table: the ladder as it ships with the test's rungs behind. Linked in place of the program's two.
#include <array>
#include <span>
#include <vector>

#include "kernels/cpu/rows.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "tests/declared/rung.h"

namespace attn {

std::span<const KernelRow> cpu_kernel_table() {
  static const std::array kTable{cpu::cpu_sequential_row(), cpu::cpu_multicore_row(), cpu::cpu_tiled_row(),
                                 cpu::cpu_flash1_row(),     cpu::cpu_flash_row(),     test::declared_cpu_row()};
  return kTable;
}

namespace gpu {

KernelRow naive_row();
KernelRow tiled_row();
KernelRow flash_simt_row();
KernelRow flash_mma_row();

std::span<const KernelRow> gpu_kernel_table() {
  static const std::array kTable{naive_row(), tiled_row(), flash_simt_row(), flash_mma_row(), test::declared_gpu_row()};
  return kTable;
}

}  // namespace gpu
}  // namespace attn
