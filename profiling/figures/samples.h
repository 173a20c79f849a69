// Where the warps of a kernel were each time the hardware looked: at which instruction, and what each waited for. A
// sample stands at the instruction that waits, not at the one that made it wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gpu/compile/listing/queue_uses.h"
#include "kernels/gpu/compile/listing/sass.h"
#include "kernels/gpu/compile/phases.h"

namespace attn {

// What a warp did when it was looked at; reasons of the hardware that mean one thing are one state. The queue of memory
// and special functions is one to the hardware: where the machine code is known (queue_uses.h), an instruction says
// which of them it waits for.
enum class WarpState : std::uint8_t {
  issues,    // selected
  ready,     // not_selected: another warp of its scheduler issued
  dispatch,  // dispatch_stall
  last,      // wait: its last result, a fixed number of cycles
  pipe,      // math_pipe_throttle: the pipe that makes the next result is busy
  shared,    // short_scoreboard, mio_throttle, for shared memory
  special,   // the same for exponentials, reciprocals, conversions
  queue,     // the same, and nobody knows for which
  l1,        // lg_throttle, tex_throttle: the queue in front of the L1 cache is full
  global,    // long_scoreboard, drain
  barrier,   // barrier, membar
  tensor,    // gmma: products of a whole warp group
  fetch,     // no_instructions, branch_resolving, imc_miss, and what has no state of its own
};
constexpr std::size_t kWarpStates = 13;
constexpr std::array<WarpState, kWarpStates> all_warp_states() {
  std::array<WarpState, kWarpStates> all{};
  for (std::size_t n = 0; n < kWarpStates; ++n) all[n] = static_cast<WarpState>(n);
  return all;
}
std::string_view name_of(WarpState state);   // "issues", "l1_queue", ...: JSON and CSV
std::string_view words_of(WarpState state);  // "waits for shared memory"
// A reason why a warp stood, as CUPTI names it on the chips from Turing to Hopper without what all names share.
struct StallReason {
  std::string_view name;   // "mio_throttle"
  std::string_view title;  // "MIO throttle"
  std::string_view what;   // what the warp waits for, and what makes that frequent
  WarpState state = WarpState::fetch;
};
std::span<const StallReason> stall_reasons();
// Null: none of these.
const StallReason* find_stall_reason(std::string_view name);
// Files tell a warp's states in these columns: first the nine sums by which they began, so that what read them reads on
// ("global" holds "device_memory" and "l1_queue"), then the states that such a sum holds several of.
std::span<const std::string_view> state_columns();
// Those that a column's name, a sum's or a state's, stands for; empty: it is none.
std::vector<WarpState> states_in(std::string_view column);

// `not_issued`: those of `all` in whose cycle the scheduler picked no warp, as CUPTI counts them.
struct ReasonSamples {
  std::uint32_t reason = 0;  // index into KernelSamples::reasons
  std::uint64_t all = 0, not_issued = 0;
  bool operator==(const ReasonSamples&) const = default;
};

struct SampledInstruction {
  std::uint32_t address = 0;  // in its function, bytes
  gpu::CodePhase phase = gpu::CodePhase::none;
  std::vector<gpu::SourceFrame> lines;  // one of each file that it stands for; `file` is of KernelSamples::files
  std::vector<ReasonSamples> reasons;
  // With its machine code (with_machine_code()), in no file: what it puts into the queue and what its operands come
  // from, and where the barrier stands that its warps wait at.
  gpu::QueueUse queues = gpu::QueueUse::unknown, operands = gpu::QueueUse::unknown;
  std::optional<gpu::CodePhase> barrier_phase = std::nullopt;
  bool operator==(const SampledInstruction&) const = default;
};
struct SampledFunction {
  std::string name;  // "flash_simt"
  std::vector<SampledInstruction> instructions;
  bool operator==(const SampledFunction&) const = default;
};

struct KernelSamples {
  std::string method;                // "CUPTI 13.0, PC sampling"
  std::string arch, text_hash;       // of the text that the lines are counted in
  std::int32_t period_log2 = 0;      // a sample of each multiprocessor every 2^this cycles
  std::int32_t launches = 0;         // how often the kernel was run for them
  std::uint64_t dropped = 0;         // lost by the hardware
  std::uint64_t unattributed = 0;    // of code that is not the kernel's
  double kernel_us = 0;              // of one run, while nothing was sampled
  double seconds = 0;                // all of it: what sampling costs
  std::string no_lines;              // why no instruction has a line and a phase; empty: they have
  std::vector<std::string> reasons;  // CUPTI's names without what all share: "wait"
  std::vector<std::string> files;    // "kernels/gpu/flash_simt.cu"
  std::vector<SampledFunction> functions;
  bool operator==(const KernelSamples&) const = default;
};

// Of CUPTI's name of a reason without what all of them share, "short_scoreboard", at an instruction.
WarpState warp_state_of(std::string_view reason, const SampledInstruction& at = {});

// `not_issued`: samples in whose cycle no instruction was issued. CUPTI does not count those of a warp that was picked
// and then held at dispatch among them; without them an H100's empty slots are 9 points too few in flash_simt, with
// them they agree within 2 points with issued samples times warps a scheduler, in all flash kernels of the ladder.
struct SampleCounts {
  std::uint64_t all = 0, not_issued = 0;
  std::array<std::uint64_t, kWarpStates> of{}, not_issued_of{};
  std::vector<std::uint64_t> by_reason;                              // parallel to KernelSamples::reasons
  std::vector<std::array<std::uint64_t, kWarpStates>> by_reason_of;  // the same by state: a reason may be of several
  void add(const KernelSamples& samples, const SampledInstruction& instruction);
  void add(const KernelSamples& samples, const SampledInstruction& at, const ReasonSamples& r);
  std::uint64_t in(std::string_view column) const;  // of state_columns()
  // The state with the most samples; issues where there is none.
  WarpState main_state() const;
};
SampleCounts counts_of(const KernelSamples& samples);

struct SampledPhase {
  gpu::CodePhase phase = gpu::CodePhase::none;
  SampleCounts counts;
};
// Those that have samples, in the order of the algorithm. A wait for the other warps is its barrier's: it is sampled at
// an instruction behind it, mostly the next branch, which may be of another phase. Where no machine code says where the
// barrier stands, it is that of the phase `barrier` that was sampled last before, 32 instructions away at most.
std::vector<SampledPhase> samples_by_phase(const KernelSamples& samples);

struct SampledLine {
  std::uint32_t file = 0, line = 0;             // line from 1
  gpu::CodePhase phase = gpu::CodePhase::none;  // of the most of its samples
  SampleCounts counts;
};
// Those that have samples, the most first.
std::vector<SampledLine> samples_by_line(const KernelSamples& samples);

// `part` of `whole`; 0 of nothing.
double share_of(std::uint64_t part, std::uint64_t whole);

}  // namespace attn
