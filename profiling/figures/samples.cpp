#include "profiling/figures/samples.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/base/text.h"

namespace attn {
namespace {

// Those that are rare have no state of their own.
constexpr auto kReasons = std::to_array<StallReason>({
    {"selected", "Selected", marked("No stall: the warp was picked and issued an instruction."), WarpState::issues},
    {"not_selected", marked("Not selected"),
     marked(
         "The warp could issue, but the scheduler picked another. If this wait is frequent, there are enough warps."),
     WarpState::ready},
    {"dispatch_stall", marked("Dispatch stall"),
     marked("The warp was picked, but its instruction was held back by a conflict over registers or another resource."),
     WarpState::dispatch},
    {"wait", "Wait",
     marked("A dependency of fixed length: the cycles until the previous result is ready. More independent "
            "instructions hide this wait."),
     WarpState::last},
    {"math_pipe_throttle", marked("Math pipe throttle"),
     marked("The pipe that the warp's next instruction needs (FMA, ALU, tensor) is busy with other warps: that pipe is "
            "the limit."),
     WarpState::pipe},
    {"short_scoreboard", marked("Short scoreboard"),
     marked("Waits for a result from the memory input/output (MIO) pipes, but not from device memory. Examples are "
            "loads from shared memory and exp in the special function unit. Bank conflicts lengthen this wait."),
     WarpState::queue},
    {"mio_throttle", marked("MIO throttle"),
     marked("The queue of the memory input/output (MIO) pipes is full: shared-memory loads and stores, exp in the "
            "special function unit, and dynamic branches. Fewer and wider shared-memory accesses relieve the queue "
            "(float4 instead of float, or ldmatrix)."),
     WarpState::queue},
    {"long_scoreboard", marked("Long scoreboard"),
     marked("Waits for data from device memory: a load through L1 and L2, or the local memory of spilled "
            "registers. More warps or earlier loads (cp.async, a second stage) hide this wait."),
     WarpState::global},
    {"lg_throttle", marked("LG throttle"),
     marked(
         "The queue for local and global memory is full: too many small accesses in a row. Use fewer, wider accesses."),
     WarpState::l1},
    {"drain", "Drain", marked("The warp has finished and waits for its stores to drain."), WarpState::global},
    {"tex_throttle", marked("TEX throttle"), marked("The queue of the texture pipe is full."), WarpState::l1},
    {"barrier", "Barrier",
     marked("Waits at __syncthreads() for the other warps of its block: their work is uneven, or the block "
            "is large."),
     WarpState::barrier},
    {"membar", "Membar", marked("Waits at a memory fence until other threads can see its accesses."),
     WarpState::barrier},
    {"gmma", "GMMA", marked("On Hopper: waits for a warpgroup's product on the tensor cores."), WarpState::tensor},
    {"warpgroup_arrive", marked("Warpgroup arrive"),
     marked("On Hopper: waits until the warps of its warpgroup have arrived."), WarpState::fetch},
    {"no_instructions", marked("No instructions"),
     marked("Waits for its next instruction, which is not in the instruction cache or follows a jump. Frequent in long "
            "unrolled loops."),
     WarpState::fetch},
    {"branch_resolving", marked("Branch resolving"), marked("Waits until the target of a branch is known."),
     WarpState::fetch},
    {"imc_miss", marked("IMC miss"), marked("Waits for a constant that is not in the constant cache."),
     WarpState::fetch},
    {"sleeping", "Sleeping", marked("Sleeps at its own request (nanosleep)."), WarpState::fetch},
    {"misc", "Misc", marked("A reason that the hardware does not name."), WarpState::fetch},
});

// In the order of the states. `sum`: of which state_columns() it is a part; its own name where it is all of it.
struct StateRow {
  std::string_view name, sum, words;
};
constexpr std::array<StateRow, kWarpStates> kRows{{
    {"issues", "issues", "issues"},
    {"ready", "ready", marked("ready, but another warp issues")},
    {"dispatch", "dispatch", marked("held at dispatch")},
    {"own_result", "last_result", marked("waits for its previous result")},
    {"busy_pipe", "last_result", marked("waits for a busy pipe")},
    {"shared_memory", "shared", marked("waits for shared memory")},
    {"special_functions", "shared", marked("waits for exponentials and conversions")},
    {"memory_queue", "shared", marked("waits for the queue of memory and special functions")},
    {"l1_queue", "global", marked("waits for the L1 cache's queue")},
    {"device_memory", "global", marked("waits for device memory")},
    {"barrier", "barrier", marked("waits for other warps")},
    {"tensor", "tensor", marked("waits for the tensor cores")},
    {"fetch_and_other", "fetch_and_other", marked("waits for instructions, or for other reasons")},
}};

// Bytes from a barrier's instruction to one whose warps wait at it, at most.
constexpr std::uint32_t kBehindBarrier = 512;

// Where the waits for other warps at each instruction belong; to be asked in the order of their addresses.
class BarrierPhases {
 public:
  gpu::CodePhase of(const SampledInstruction& i) {
    if (i.phase == gpu::CodePhase::barrier) last_ = i.address;
    if (i.barrier_phase) return *i.barrier_phase;
    return last_ && i.address - *last_ <= kBehindBarrier ? gpu::CodePhase::barrier : i.phase;
  }

 private:
  std::optional<std::uint32_t> last_;
};

// The phase with the most samples among those of a line's instructions.
class LineSum {
 public:
  void add(const KernelSamples& samples, const SampledInstruction& i) {
    const std::uint64_t before = counts_.all;
    counts_.add(samples, i);
    of_[static_cast<std::size_t>(i.phase)] += counts_.all - before;
  }
  SampledLine take(std::uint32_t file, std::uint32_t line) && {
    const auto most = std::ranges::max_element(of_);
    return {file, line, static_cast<gpu::CodePhase>(most - of_.begin()), std::move(counts_)};
  }

 private:
  SampleCounts counts_;
  std::array<std::uint64_t, gpu::kCodePhases> of_{};
};

}  // namespace

std::string_view name_of(WarpState state) {
  return kRows.at(static_cast<std::size_t>(state)).name;
}

std::string_view words_of(WarpState state) {
  return tr_of(kRows.at(static_cast<std::size_t>(state)).words);
}

std::span<const StallReason> stall_reasons() {
  return kReasons;
}

const StallReason* find_stall_reason(std::string_view name) {
  const auto* found = std::ranges::find(kReasons, name, &StallReason::name);
  return found == kReasons.end() ? nullptr : found;
}

std::span<const std::string_view> state_columns() {
  static constexpr auto kColumns = std::to_array<std::string_view>(
      {"issues", "ready", "dispatch", "last_result", "shared", "global", "barrier", "tensor", "fetch_and_other",
       "own_result", "busy_pipe", "shared_memory", "special_functions", "memory_queue", "l1_queue", "device_memory"});
  return kColumns;
}

std::vector<WarpState> states_in(std::string_view column) {
  std::vector<WarpState> states;
  for (const WarpState state : all_warp_states()) {
    const StateRow& row = kRows.at(static_cast<std::size_t>(state));
    if (row.name == column || row.sum == column) states.push_back(state);
  }
  return states;
}

WarpState warp_state_of(std::string_view reason, const SampledInstruction& at) {
  const StallReason* found = find_stall_reason(reason);
  const WarpState state = found == nullptr ? WarpState::fetch : found->state;
  if (state != WarpState::queue) return state;
  // One waits to get into the queue, the other for what comes out of it.
  switch (reason == "mio_throttle" ? at.queues : at.operands) {
    case gpu::QueueUse::shared:
      return WarpState::shared;
    case gpu::QueueUse::special:
      return WarpState::special;
    case gpu::QueueUse::unknown:
      break;
  }
  return WarpState::queue;
}

void SampleCounts::add(const KernelSamples& samples, const SampledInstruction& at, const ReasonSamples& r) {
  by_reason.resize(samples.reasons.size());
  by_reason_of.resize(samples.reasons.size());
  const WarpState now = warp_state_of(samples.reasons.at(r.reason), at);
  const auto state = static_cast<std::size_t>(now);
  const std::uint64_t empty = now == WarpState::dispatch ? r.all : r.not_issued;
  all += r.all;
  not_issued += empty;
  of[state] += r.all;
  not_issued_of[state] += empty;
  by_reason[r.reason] += r.all;
  by_reason_of[r.reason][state] += r.all;
}

void SampleCounts::add(const KernelSamples& samples, const SampledInstruction& instruction) {
  for (const ReasonSamples& r : instruction.reasons) add(samples, instruction, r);
}

std::uint64_t SampleCounts::in(std::string_view column) const {
  std::uint64_t sum = 0;
  for (const WarpState state : states_in(column)) sum += of.at(static_cast<std::size_t>(state));
  return sum;
}

WarpState SampleCounts::main_state() const {
  return static_cast<WarpState>(std::ranges::max_element(of) - of.begin());
}

SampleCounts counts_of(const KernelSamples& samples) {
  SampleCounts counts;
  for (const SampledFunction& f : samples.functions)
    for (const SampledInstruction& i : f.instructions) counts.add(samples, i);
  return counts;
}

std::vector<SampledPhase> samples_by_phase(const KernelSamples& samples) {
  std::array<SampleCounts, gpu::kCodePhases> counts;
  for (const SampledFunction& f : samples.functions) {
    BarrierPhases barriers;
    for (const SampledInstruction& i : f.instructions) {
      const gpu::CodePhase barrier = barriers.of(i);
      for (const ReasonSamples& r : i.reasons) {
        const bool waits = warp_state_of(samples.reasons.at(r.reason), i) == WarpState::barrier;
        counts.at(static_cast<std::size_t>(waits ? barrier : i.phase)).add(samples, i, r);
      }
    }
  }
  std::vector<SampledPhase> phases;
  for (const gpu::CodePhase phase : gpu::all_code_phases()) {
    SampleCounts& of = counts.at(static_cast<std::size_t>(phase));
    if (of.all > 0) phases.push_back({phase, std::move(of)});
  }
  return phases;
}

std::vector<SampledLine> samples_by_line(const KernelSamples& samples) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, LineSum> sums;
  for (const SampledFunction& f : samples.functions)
    for (const SampledInstruction& i : f.instructions)
      for (const gpu::SourceFrame& line : i.lines) sums[{line.file, line.line}].add(samples, i);
  std::vector<SampledLine> lines;
  lines.reserve(sums.size());
  for (auto& [at, sum] : sums) lines.push_back(std::move(sum).take(at.first, at.second));
  std::erase_if(lines, [](const SampledLine& line) { return line.counts.all == 0; });
  std::ranges::stable_sort(lines, [](const auto& a, const auto& b) { return a.counts.all > b.counts.all; });
  return lines;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace attn
