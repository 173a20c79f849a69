#include "profiling/figures/counts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/base/text.h"

namespace attn {
namespace {

using Names = std::array<std::string_view, 1>;

// The same on every chip from Turing to Blackwell, as CUPTI's host API says.
constexpr Names kExecuted{"smsp__sass_inst_executed"};
constexpr Names kThreads{"smsp__sass_thread_inst_executed_pred_on"};
constexpr Names kShared{"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared"};
constexpr Names kSharedIdeal{"smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared_ideal"};
constexpr Names kSectors{"smsp__sass_sectors_mem_global"};
constexpr Names kSectorsIdeal{"smsp__sass_sectors_mem_global_ideal"};

constexpr std::array<InstructionCounterRow, kInstructionCounters> kTable{{
    {InstructionCounter::executed, "inst_executed", marked("instructions executed, counted once per warp"), kExecuted},
    {InstructionCounter::threads, "thread_inst_executed",
     marked("instructions executed, counted once per thread whose predicate was true"), kThreads},
    {InstructionCounter::shared, "shared_wavefronts", marked("passes through shared memory"), kShared},
    {InstructionCounter::shared_ideal, "shared_wavefronts_ideal", marked("passes without bank conflicts"),
     kSharedIdeal},
    {InstructionCounter::sectors, "global_sectors",
     marked("32-byte sectors requested from the L1 cache for device memory"), kSectors},
    {InstructionCounter::sectors_ideal, "global_sectors_ideal",
     marked("sectors that the same bytes would fill if they were contiguous"), kSectorsIdeal},
}};

// The phase that executed most among those of a line's instructions.
struct LineSum {
  CounterSums sums;
  std::array<std::uint64_t, gpu::kCodePhases> of{};
  void add(const CountedInstruction& i) {
    sums.add(i.counts);
    of.at(static_cast<std::size_t>(i.phase)) += i.counts[InstructionCounter::executed];
  }
};

}  // namespace

std::span<const InstructionCounterRow> instruction_counter_table() {
  return kTable;
}

void CounterSums::add(const CounterSums& other) {
  for (std::size_t n = 0; n < of_.size(); ++n) of_[n] += other.of_[n];
}

bool CounterSums::any() const {
  return std::ranges::any_of(of_, [](std::uint64_t n) { return n != 0; });
}

std::optional<std::int64_t> derived(const KernelCounts& counts, const CounterSums& sums, DerivedCount what) {
  const bool shared = what == DerivedCount::conflicts;
  const auto real = shared ? InstructionCounter::shared : InstructionCounter::sectors;
  const auto ideal = shared ? InstructionCounter::shared_ideal : InstructionCounter::sectors_ideal;
  if (!counts.has(real) || !counts.has(ideal)) return std::nullopt;
  return static_cast<std::int64_t>(sums[real]) - static_cast<std::int64_t>(sums[ideal]);
}

std::optional<double> threads_per_instruction(const KernelCounts& counts, const CounterSums& sums) {
  if (!counts.has(InstructionCounter::threads) || sums[InstructionCounter::executed] == 0) return std::nullopt;
  return static_cast<double>(sums[InstructionCounter::threads]) /
         static_cast<double>(sums[InstructionCounter::executed]);
}

CounterSums sums_of(const KernelCounts& counts) {
  CounterSums sums;
  for (const CountedFunction& f : counts.functions)
    for (const CountedInstruction& i : f.instructions) sums.add(i.counts);
  return sums;
}

std::vector<CountedPhase> counts_by_phase(const KernelCounts& counts) {
  std::array<CounterSums, gpu::kCodePhases> sums;
  for (const CountedFunction& f : counts.functions)
    for (const CountedInstruction& i : f.instructions) sums.at(static_cast<std::size_t>(i.phase)).add(i.counts);
  std::vector<CountedPhase> phases;
  for (const gpu::CodePhase phase : gpu::all_code_phases())
    if (const CounterSums& of = sums.at(static_cast<std::size_t>(phase)); of.any()) phases.push_back({phase, of});
  return phases;
}

std::vector<CountedLine> counts_by_line(const KernelCounts& counts) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, LineSum> sums;
  for (const CountedFunction& f : counts.functions)
    for (const CountedInstruction& i : f.instructions)
      for (const gpu::SourceFrame& line : i.lines) sums[{line.file, line.line}].add(i);
  std::vector<CountedLine> lines;
  lines.reserve(sums.size());
  for (const auto& [at, sum] : sums) {
    if (!sum.sums.any()) continue;
    const auto most = std::ranges::max_element(sum.of);
    lines.push_back({at.first, at.second, static_cast<gpu::CodePhase>(most - sum.of.begin()), sum.sums});
  }
  std::ranges::stable_sort(lines, [](const CountedLine& a, const CountedLine& b) {
    return a.sums[InstructionCounter::executed] > b.sums[InstructionCounter::executed];
  });
  return lines;
}

}  // namespace attn
