// One point: a kernel with options on one problem, and how it is measured. The CPU's side and the GPU's both take it,
// and the worker gets it as it is. What is asked for, and nothing of how it is done.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "profiling/figures/measurement.h"

namespace attn {

// How points are measured. A sweep has it and hands it to each of its points whole: a field that is added here reaches
// both sides; the worker's messages (app/worker/messages.cpp) name it once more.
struct MeasureSpec {
  Generator generator = Generator::normal;  // random normal by default: zeros run faster and would lie
  std::uint64_t seed = 1;
  double seconds_per_point =
      1.0;                       // time limit of the repeats of one point (StopRule in profiling/figures/statistics.h)
  std::int32_t min_repeats = 5;  // kept up to four times the limit
  bool verify = true;            // sampled rows against the fp64 reference
  bool verify_full = false;      // all rows
  std::uint64_t memory_limit = 0;  // 0 = what the machine, or the GPU, has free
  // GPU kernels alone.
  std::int32_t gpu = 0;
  std::string arch = "sm_90a";  // what they are compiled for where there is no GPU
  L2State l2 = L2State::cold;   // cold: the L2 cache is filled with other data before each repeat
  bool counters = true;         // false: CUPTI is never touched, so that another profiler can be used
  bool operator==(const MeasureSpec&) const = default;
};

struct Point : MeasureSpec {
  std::string kernel;
  Problem problem;
  Options options;
  bool operator==(const Point&) const = default;
};

// What this CPU can do at most, as profiling/measure/cpu/cpu_peak.h measures it.
struct CpuPeak {
  double gflops = 0;         // 2 FLOPs a multiply-add, all threads together
  double copy_gb_per_s = 0;  // read + written, in units of 1e9; arrays beyond the caches where memory allows
  std::int32_t threads = 0;
};

}  // namespace attn
