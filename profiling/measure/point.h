// One point: a kernel with options on one problem, and how it is measured. The CPU's side and the GPU's both take it,
// and the worker gets it as it is.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/model/inputs.h"
#include "kernels/model/kernel.h"
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

// The row of a point before anything is known of it: what was asked for, no figures.
Measurement empty_row(const Point& p, Processor processor);

}  // namespace attn
