// The table of the CPU's kernels of a backward and nothing else.
#include <array>
#include <span>

#include "kernels/cpu/backward/rows.h"
#include "kernels/ladder.h"

namespace attn {

std::span<const KernelRow> cpu_backward_table() {
  static const std::array<KernelRow, 2> kTable = {cpu::cpu_naive_bwd_row(), cpu::cpu_flash_bwd_row()};
  return kTable;
}

}  // namespace attn
