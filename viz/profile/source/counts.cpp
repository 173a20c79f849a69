#include "viz/profile/source/counts.h"

#include <cstdlib>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"

namespace attn {
namespace {

constexpr const char* kNone = "–";

// "4 194 304"
std::string in_groups(std::int64_t n) {
  std::string digits = fmt::format("{}", std::abs(n));
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return (n < 0 ? "-" : "") + digits;
}

std::string in_groups(std::uint64_t n) {
  return in_groups(static_cast<std::int64_t>(n));
}

std::string metric(const KernelCounts& counts, InstructionCounter c) {
  return counts.metrics.at(static_cast<std::size_t>(c));
}

std::string not_here(const KernelCounts& counts) {
  return phrase("\nNot available: {} does not count this metric.", counts.chip);
}

// "1 200 - 800 = 400"; empty where the chip does not count one of the two, or neither was met.
std::string beyond_ideal(const KernelCounts& counts, const CounterSums& sums, DerivedCount what) {
  const bool shared = what == DerivedCount::conflicts;
  const std::uint64_t real = sums[shared ? InstructionCounter::shared : InstructionCounter::sectors];
  const std::uint64_t ideal = sums[shared ? InstructionCounter::shared_ideal : InstructionCounter::sectors_ideal];
  const auto beyond = derived(counts, sums, what);
  if (!beyond || (real == 0 && ideal == 0)) return {};
  return fmt::format("\n{}: {} {} - {} {} = {}", shared ? tr("Bank conflicts") : tr("Excess sectors"), in_groups(real),
                     shared ? tr("passes through shared memory") : tr("sectors of device memory"), in_groups(ideal),
                     shared ? tr("without conflicts") : tr("contiguous"), in_groups(*beyond));
}

std::string words_of(const KernelCounts& counts, const CounterSums& sums, std::uint64_t all) {
  if (!sums.any()) return {};
  const std::uint64_t executed = sums[InstructionCounter::executed];
  std::string words = phrase("Executed {} times by warps in one run, {:.3g} % of all executions", in_groups(executed),
                             all == 0 ? 0 : 100 * static_cast<double>(executed) / static_cast<double>(all));
  if (const auto threads = threads_per_instruction(counts, sums))
    words += phrase("; {:.3g} of 32 threads active", *threads);
  words += beyond_ideal(counts, sums, DerivedCount::conflicts);
  words += beyond_ideal(counts, sums, DerivedCount::excess_sectors);
  return words;
}

// Nought is an empty place: it reads faster.
std::string cell(const std::optional<std::int64_t>& value) {
  if (!value) return kNone;
  return *value == 0 ? std::string() : brief_count(*value);
}

std::optional<std::int64_t> counted(const KernelCounts& counts, const CounterSums& sums, InstructionCounter c) {
  if (!counts.has(c)) return std::nullopt;
  return static_cast<std::int64_t>(sums[c]);
}

}  // namespace

CountColumns columns_shown(std::size_t fit, const std::array<bool, kCountColumns>& holds,
                           std::optional<CountColumn> by) {
  CountColumns columns;
  for (const CountColumn column : all_count_columns())
    if (fit >= kCountColumns || holds.at(static_cast<std::size_t>(column))) columns.shown.push_back(column);
  if (columns.shown.size() < 2 || columns.shown.size() <= fit) return columns;
  return {{by.value_or(CountColumn::executed)}, true};
}

std::optional<CountColumn> column_after(std::optional<CountColumn> by) {
  const std::size_t next = by ? static_cast<std::size_t>(*by) + 1 : 0;
  return next < kCountColumns ? std::optional(all_count_columns().at(next)) : std::nullopt;
}

CountHead head_of(const KernelCounts& counts, CountColumn column) {
  switch (column) {
    case CountColumn::executed:
      return {"executed",
              phrase("The exact number of times that warps executed this line's instructions in one run.\nCUPTI: {}{}",
                     metric(counts, InstructionCounter::executed),
                     (counts.has(InstructionCounter::executed) ? "" : not_here(counts)))};
    case CountColumn::conflicts:
      return {"conflicts",
              phrase("Bank conflicts: passes through shared memory beyond those that the same accesses would take "
                     "without conflicts.\n"
                     "wavefronts - ideal = {} - {}{}",
                     metric(counts, InstructionCounter::shared), metric(counts, InstructionCounter::shared_ideal),
                     (value_of(counts, {}, column) ? "" : not_here(counts)))};
    case CountColumn::sectors:
      break;
  }
  return {"sectors+",
          phrase("Excess sectors: 32-byte sectors of device memory beyond those that the same bytes would fill if "
                 "they were contiguous (uncoalesced accesses).\n"
                 "sectors - ideal = {} - {}{}",
                 metric(counts, InstructionCounter::sectors), metric(counts, InstructionCounter::sectors_ideal),
                 (value_of(counts, {}, column) ? "" : not_here(counts)))};
}

std::optional<std::int64_t> value_of(const KernelCounts& counts, const CounterSums& sums, CountColumn column) {
  switch (column) {
    case CountColumn::executed:
      return counted(counts, sums, InstructionCounter::executed);
    case CountColumn::conflicts:
      return derived(counts, sums, DerivedCount::conflicts);
    case CountColumn::sectors:
      break;
  }
  return derived(counts, sums, DerivedCount::excess_sectors);
}

CountCells cells_of(const KernelCounts& counts, const CounterSums& sums, std::uint64_t executed_by_all) {
  CountCells cells;
  cells.sums = sums;
  for (const CountColumn column : all_count_columns())
    cells.text.at(static_cast<std::size_t>(column)) = cell(value_of(counts, sums, column));
  cells.words = words_of(counts, sums, executed_by_all);
  return cells;
}

const std::array<PhaseCountHead, kPhaseCountColumns>& phase_count_heads() {
  static constexpr std::array<PhaseCountHead, kPhaseCountColumns> kHeads{{
      {marked("executed"), marked("exec."), marked("Executed: how often warps executed the phase's instructions")},
      {"%", "%", marked("The phase's share of all executions")},
      {marked("threads"), marked("threads"), marked("Active threads of 32, on average over the executed instructions")},
      {marked("passes"), marked("passes"), marked("Passes through shared memory")},
      {marked("conflicts"), marked("confl."),
       marked("Bank conflicts: passes through shared memory beyond those that the same accesses would take without "
              "conflicts")},
      {marked("sectors"), marked("sectors"), marked("32-byte sectors of device memory")},
      {marked("excess"), marked("excess"),
       marked("Excess sectors: those beyond what the same bytes would fill if they were contiguous")},
  }};
  return kHeads;
}

PhaseCountCells phase_cells_of(const KernelCounts& counts, const CounterSums& sums, std::uint64_t executed_by_all) {
  PhaseCountCells cells;
  const auto threads = threads_per_instruction(counts, sums);
  const std::uint64_t executed = sums[InstructionCounter::executed];
  const double share =
      executed_by_all == 0 ? 0 : 100 * static_cast<double>(executed) / static_cast<double>(executed_by_all);
  cells.text = {cell(counted(counts, sums, InstructionCounter::executed)),
                executed == 0 ? std::string() : fmt::format("{:.1f}", share),
                threads ? fmt::format("{:.1f}", *threads) : std::string(kNone),
                cell(counted(counts, sums, InstructionCounter::shared)),
                cell(derived(counts, sums, DerivedCount::conflicts)),
                cell(counted(counts, sums, InstructionCounter::sectors)),
                cell(derived(counts, sums, DerivedCount::excess_sectors))};
  cells.words = words_of(counts, sums, executed_by_all);
  return cells;
}

}  // namespace attn
