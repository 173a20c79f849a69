// Kernel time stamps, hardware counters, samples of instructions, counters over time: an interface, so that a double
// can stand in its place, and CUPTI behind it, opened at run time. This header needs no CUPTI header.
//
// All calls belong to the thread that has the GPU's context. The ways of looking exclude each other: time stamps that
// stay on while counters are read leave no record at all, so each ends the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
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

class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual std::string version() const = 0;  // "CUPTI 13.0"

  virtual Result<void> start_times() = 0;
  // Kernels that ended since the last call, in the order of their starts. The caller has waited for them.
  virtual Result<std::vector<KernelTime>> take_times() = 0;
  virtual void stop_times() = 0;

  // Counts what `run` does. It is run once a pass, each time after `prepare`, which is not counted; both wait for
  // their work. The session with the driver stays open for the next call.
  virtual Result<Counts> count(std::span<const CounterNames> what, const std::function<Result<void>()>& prepare,
                               const std::function<Result<void>()>& run) = 0;

  // Runs `load`, which loads modules and launches their kernels for the first time: only what was loaded and launched
  // so has instructions in its samples. `load` waits for its work.
  virtual Result<void> load_for_samples(const std::function<Result<void>()>& load) = 0;
  // Where the warps are during `run`, which follows each time after `prepare`; both wait for their work.
  virtual Result<Sampled> sample(const SamplingSpec& spec, const std::function<Result<void>()>& prepare,
                                 const std::function<Result<void>()>& run) = 0;
  // What each instruction does during one `run`, which waits for its work. It runs patched and is not to be timed.
  virtual Result<InstructionCounts> count_instructions(const CountSpec& spec,
                                                       const std::function<Result<void>()>& run) = 0;
  // Counters over the time of one `run`, which follows after `prepare`; both wait for their work.
  virtual Result<Beats> beat(const BeatSpec& spec, const std::function<Result<void>()>& prepare,
                             const std::function<Result<void>()>& run) = 0;
};

// CUPTI for GPU `device` of a driver for CUDA `driver` (13000 = 13.0). The error says what is missing or does not fit.
Result<std::unique_ptr<Profiler>> open_profiler(std::int32_t device, std::int32_t driver);

// "CUPTI 13.0", or why it cannot be used. Opens no session and needs no GPU.
Result<std::string> cupti_version(std::int32_t driver);

// Why this user may not read counters, as far as the driver's files say: an error with what would change it. Whoever
// passes may still be refused when it comes to it. `root` is "/" but in tests.
Result<void> counters_permitted(const std::string& root = "/");

}  // namespace attn
