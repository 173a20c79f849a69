// Kernel time stamps, hardware counters, samples of instructions, counters over time: an interface, so that a double
// can stand in its place, and CUPTI behind it, opened at run time. This header needs no CUPTI header.
//
// All calls belong to the thread that has the GPU's context. The ways of looking exclude each other: time stamps that
// stay on while counters are read leave no record at all, so each ends the others.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "profiling/cupti/readings.h"

namespace attn {

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
