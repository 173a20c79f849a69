#include "kernels/ladder.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/cpu/rows.h"
#include "kernels/gpu/rungs/rows.h"

namespace attn {

std::span<const KernelRow> cpu_kernel_table() {
  // The ladder's rungs on the CPU, in its order.
  static const std::array<KernelRow, 5> kTable = {cpu::cpu_sequential_row(), cpu::cpu_multicore_row(),
                                                  cpu::cpu_tiled_row(), cpu::cpu_flash1_row(), cpu::cpu_flash_row()};
  return kTable;
}

std::vector<const KernelRow*> ladder() {
  std::vector<const KernelRow*> rows;
  for (const std::span<const KernelRow> table : {cpu_kernel_table(), gpu::gpu_kernel_table()}) {
    for (const KernelRow& row : table) rows.push_back(&row);
  }
  return rows;
}

std::size_t ladder_rank(std::string_view id) {
  const auto rows = ladder();
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const KernelRow* row) { return row->id == id; });
  return static_cast<std::size_t>(at - rows.begin());
}

Result<const KernelRow*> find_kernel(std::string_view id) {
  std::vector<std::string_view> ids;
  for (const KernelRow* row : ladder()) {
    if (row->id == id) return row;
    ids.push_back(row->id);
  }
  return bad_input(fmt::format("there is no kernel '{}'; there are {}", id, fmt::join(ids, ", ")));
}

}  // namespace attn
