// What each way of looking at a GPU is asked for, and what it reads: time stamps, counters of a run, samples and counts
// of instructions, counters over time. Plain values, without CUPTI's headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/figures/samples.h"

namespace attn {

// When one kernel ran, in nanoseconds of the GPU's clock.
struct KernelTime {
  std::string name;
  std::uint64_t start_ns = 0, end_ns = 0;
};

// Names of one counter; the first that the chip has is taken.
using CounterNames = std::span<const std::string_view>;

struct Counted {
  std::string name;  // that was read; empty: the chip has none of them
  double value = 0;
};
struct Counts {
  std::vector<Counted> values;  // one for each that was asked
  std::size_t passes = 0;
  std::string chip;    // "GH100"
  double seconds = 0;  // all of it: what counting costs
};

// How instructions are sampled.
struct SamplingSpec {
  std::int32_t period_log2 = 0;      // a sample of each multiprocessor every 2^this cycles; 5 to 31
  std::int32_t launches = 1;         // how often `run` is run
  std::span<const std::byte> cubin;  // whose instructions are wanted; what else runs is counted as not attributed
};
struct Sampled {
  std::vector<std::string> reasons;        // CUPTI's names without what all share: "wait"
  std::vector<SampledFunction> functions;  // addresses and counts alone
  std::uint64_t samples = 0, dropped = 0, unattributed = 0;
  double seconds = 0;
};

// What each instruction of a cubin does is counted.
struct CountSpec {
  std::span<const CounterNames> what;  // of SASS metrics; the same in every call
  std::span<const std::byte> cubin;    // whose instructions are wanted
};
struct InstructionCounts {
  struct Instruction {
    std::uint32_t address = 0;          // in its function, bytes
    std::vector<std::uint64_t> values;  // one for each that was asked
  };
  struct Function {
    std::string name;
    std::vector<Instruction> instructions;  // by address
  };
  std::vector<std::string> names;   // that were counted, one for each that was asked; empty: the chip has none of them
  std::vector<Function> functions;  // of the cubin
  std::size_t of_other_code = 0;    // instructions of other cubins that were counted beside them
  std::string others;               // which
  std::string chip;                 // "GH100"
  double seconds = 0;
};

// How counters are read over time.
struct BeatSpec {
  std::span<const CounterNames> what;  // the most wanted first: as many as fit into one pass
  std::int64_t interval = 0;           // between two samples, nanoseconds; cycles where the chip has no such trigger
  std::size_t most_samples = 0;        // that there is room for
};
struct BeatSample {
  std::uint64_t start_ns = 0, end_ns = 0;  // of the same clock as kernel time stamps
  std::vector<double> values;              // of the names that are not empty, in their order
};
struct Beats {
  std::vector<std::string> names;   // one for each that was asked; empty: not on this chip, or not in this pass
  std::vector<KernelTime> kernels;  // of the run
  std::vector<BeatSample> samples;  // that touch it, and one at either side
  bool overflow = false;            // the hardware's buffer was full: samples are missing
  bool in_cycles = false;           // what the interval counted
  std::string chip;
  double seconds = 0;
};

}  // namespace attn
