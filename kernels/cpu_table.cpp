// The table of the CPU's kernels and nothing else, so that a test program may link one of its own in its place.
#include <array>
#include <span>

#include "kernels/cpu/rows.h"
#include "kernels/ladder.h"

namespace attn {

std::span<const KernelRow> cpu_kernel_table() {
  // The ladder's rungs on the CPU, in its order.
  static const std::array<KernelRow, 5> kTable = {cpu::cpu_sequential_row(), cpu::cpu_multicore_row(),
                                                  cpu::cpu_tiled_row(), cpu::cpu_flash1_row(), cpu::cpu_flash_row()};
  return kTable;
}

}  // namespace attn
