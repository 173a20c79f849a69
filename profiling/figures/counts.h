// What the chip counted at each instruction of one run of a kernel: how often it was executed, and what it asked of
// shared memory and of the cache. Unlike samples these are exact, and they say nothing of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gpu/compile/listing/sass.h"
#include "kernels/gpu/compile/phases.h"

namespace attn {

enum class InstructionCounter : std::uint8_t {
  executed,       // warps that executed it
  threads,        // threads of them whose predicate was true
  shared,         // passes through the data stage of shared memory
  shared_ideal,   // that the same accesses would take without bank conflicts
  sectors,        // of 32 bytes, of device memory's addresses
  sectors_ideal,  // that the same bytes would take if neighbours' lay side by side
};
constexpr std::size_t kInstructionCounters = 6;

// One row a counter, in their order.
struct InstructionCounterRow {
  InstructionCounter counter;
  std::string_view id;                        // "inst_executed": JSON and CSV
  std::string_view words;                     // "instructions of warps executed"
  std::span<const std::string_view> metrics;  // CUPTI's SASS metrics; the first that the chip has is taken
};
std::span<const InstructionCounterRow> instruction_counter_table();

// A count for each of them; of a counter that the chip does not have it means nothing.
class CounterSums {
 public:
  std::uint64_t operator[](InstructionCounter c) const { return of_[static_cast<std::size_t>(c)]; }
  std::uint64_t& operator[](InstructionCounter c) { return of_[static_cast<std::size_t>(c)]; }
  void add(const CounterSums& other);
  bool any() const;  // one is not zero
  bool operator==(const CounterSums&) const = default;

 private:
  std::array<std::uint64_t, kInstructionCounters> of_{};
};

struct CountedInstruction {
  std::uint32_t address = 0;  // in its function, bytes
  gpu::CodePhase phase = gpu::CodePhase::none;
  std::vector<gpu::SourceFrame> lines;  // one of each file that it stands for; `file` is of KernelCounts::files
  CounterSums counts;
  bool operator==(const CountedInstruction&) const = default;
};
struct CountedFunction {
  std::string name;                              // "flash_simt"
  std::vector<CountedInstruction> instructions;  // those at which anything was counted, by address
  bool operator==(const CountedFunction&) const = default;
};

struct KernelCounts {
  std::string method;                                     // "CUPTI 13.0, SASS metrics"
  std::string arch, text_hash;                            // of the text that the lines are counted in
  std::string chip;                                       // "GH100"
  double seconds = 0;                                     // what counting costs
  std::string no_lines;                                   // why no instruction has a line and a phase; empty: they have
  std::array<std::string, kInstructionCounters> metrics;  // that were read; empty: the chip has none of them
  std::vector<std::string> files;                         // "kernels/gpu/flash_simt.cu"
  std::vector<CountedFunction> functions;
  bool has(InstructionCounter c) const { return !metrics[static_cast<std::size_t>(c)].empty(); }
  bool operator==(const KernelCounts&) const = default;
};

// What two or more counters say together, each where the chip has them: nothing otherwise.
enum class DerivedCount : std::uint8_t {
  conflicts,       // shared - shared_ideal: passes that bank conflicts cost
  excess_sectors,  // sectors - sectors_ideal: sectors that uncoalesced accesses cost
};
std::optional<std::int64_t> derived(const KernelCounts& counts, const CounterSums& sums, DerivedCount what);
// Threads of a warp of 32 that did something, on average; nothing where nothing was executed.
std::optional<double> threads_per_instruction(const KernelCounts& counts, const CounterSums& sums);

CounterSums sums_of(const KernelCounts& counts);

struct CountedPhase {
  gpu::CodePhase phase = gpu::CodePhase::none;
  CounterSums sums;
};
// Those that were executed, in the order of the algorithm.
std::vector<CountedPhase> counts_by_phase(const KernelCounts& counts);

struct CountedLine {
  std::uint32_t file = 0, line = 0;             // line from 1
  gpu::CodePhase phase = gpu::CodePhase::none;  // of the most of what it executed
  CounterSums sums;
};
// Those that were executed, the most executed first. An instruction counts at one line of each file that it stands for.
std::vector<CountedLine> counts_by_line(const KernelCounts& counts);

}  // namespace attn
