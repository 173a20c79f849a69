// What Bench shows of its rows, in the state string but not undoable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace attn {

// What stands right of the sweep: the charts and their table, the rungs one over the other, the sources of two, the
// tiles that were tried of one, or the lanes of rings' ranks.
enum class BenchPage : std::uint8_t { charts, ladder, sources, tiles, ranks };
std::string_view name_of(BenchPage page);  // "charts", "ladder", "sources", "tiles", "ranks"

constexpr std::size_t kBenchCharts = 4;
// Stands among the ids of metrics for DRAM bytes read and written together, with what was predicted of them.
constexpr std::string_view kDramBytes = "dram_bytes";

struct BenchView {
  // Of each chart the id of its metric; empty = the usual one of its place.
  std::array<std::string, kBenchCharts> charts;
  std::string kernel;                 // chosen in Bench where Step cannot show it; empty = the document's
  std::string baseline;               // what speed-ups are over; empty = the default of each device
  std::optional<std::int64_t> value;  // axis value that table and verdict look at
  BenchPage page = BenchPage::charts;
  std::string filter;  // the rows that charts and table show (viz/bench/runs/row_filter.h); empty = all
  // Whose sources stand side by side, left and right; empty = the kernel that is chosen and the rung before it.
  std::array<std::string, 2> sources;
};

}  // namespace attn
