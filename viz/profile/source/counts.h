// What was counted at instructions, as columns beside the source and as a table of phases. Plain values with the text
// in them; source_draw.cpp draws them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiling/figures/counts.h"

namespace attn {

// Beside each line of the source.
enum class CountColumn : std::uint8_t { executed, conflicts, sectors };
constexpr std::size_t kCountColumns = 3;
constexpr std::array<CountColumn, kCountColumns> all_count_columns() {
  return {CountColumn::executed, CountColumn::conflicts, CountColumn::sectors};
}

// Which of them stand beside a text.
struct CountColumns {
  std::vector<CountColumn> shown;
  bool one_by_one = false;  // there is room for one alone: its head goes to the next
};
// `fit`: for how many there is room. All where they fit; else those alone that hold something in this file, or one: the
// one that F8 goes by (`by`), executed where it goes by none.
CountColumns columns_shown(std::size_t fit, const std::array<bool, kCountColumns>& holds,
                           std::optional<CountColumn> by);
// What one head goes through: executed, conflicts, sectors, and then by what F8 went before.
std::optional<CountColumn> column_after(std::optional<CountColumn> by);

struct CountHead {
  std::string text;  // "conflicts"
  std::string tip;   // what it is, its formula and metrics; or why there is none
};
// Of the chip that counted.
CountHead head_of(const KernelCounts& counts, CountColumn column);
// What the column holds; nothing where the chip does not count it.
std::optional<std::int64_t> value_of(const KernelCounts& counts, const CounterSums& sums, CountColumn column);

// Of a line: a text a column, empty where it is nought, "–" where the chip does not count it.
struct CountCells {
  CounterSums sums;
  std::array<std::string, kCountColumns> text;
  std::string words;  // a line a figure, with its formula; empty: nothing was counted there
};
CountCells cells_of(const KernelCounts& counts, const CounterSums& sums, std::uint64_t executed_by_all);

// Of a phase, in the order of its heads.
constexpr std::size_t kPhaseCountColumns = 7;
struct PhaseCountHead {
  const char *text, *brief, *tip;  // `brief`: where there is less room; `tip`: what is counted
};
const std::array<PhaseCountHead, kPhaseCountColumns>& phase_count_heads();
struct PhaseCountCells {
  std::array<std::string, kPhaseCountColumns> text;
  std::string words;
};
PhaseCountCells phase_cells_of(const KernelCounts& counts, const CounterSums& sums, std::uint64_t executed_by_all);

}  // namespace attn
