// What a sweep is: kernels x values of one axis, and how each point is measured. Plain values alone: sweep_point.h says
// what its points are, profiling/sweep/sweep.h runs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ladder.h"
#include "kernels/model/axis.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "profiling/spec/measure_spec.h"

namespace attn {

struct SweepSpec : MeasureSpec {
  std::vector<std::string> kernels;
  gpu::OwnKernels own;  // the user's, which `kernels` may name beside the ladder's
  Axis axis = Axis::L;
  std::vector<std::int64_t> values;
  Problem base;                    // the axis overrides one extent (L: Lq and Lk; H: Hq and Hkv scale together)
  std::int64_t tokens = 0;         // with axis L: B = tokens / L, at least 1; 0 = B as in base
  Ragged ragged = Ragged::none;    // the key lengths of each point's batch; none: those of base
  Options options;                 // where a kernel does not read an option it is ignored
  bool tuned = false;              // each point's tile is the one that tuning kept for it; none kept: the row says so
  std::vector<std::string> peers;  // ids of profiling/figures/peers.h, timed in turns with these kernels
  CpuPeak peak;                    // measured before; zero: run_sweep measures it first (about 0.3 s)
};

}  // namespace attn
