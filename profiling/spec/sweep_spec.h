// What a sweep is: kernels x values of one axis, and how each point is measured. Plain values and what can be said of
// them without a machine; profiling/sweep/sweep.h runs it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/ladder.h"
#include "kernels/model/axis.h"
#include "kernels/model/inputs/ragged.h"
#include "kernels/model/kernel.h"
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

// The rows of spec.kernels, in that order, or which name is no kernel. They live as long as spec.own or the program.
Result<std::vector<const KernelRow*>> kernels_of(const SweepSpec& s);
// Axis values in range, kernels known: refused before anything runs.
Result<void> validate(const SweepSpec& s);
// The same with rows of the caller's own in place of spec.kernels.
Result<void> validate(const SweepSpec& s, std::span<const KernelRow* const> rows);
// The problem and options of one point. D changes Dv too where the base has Dv = D; extents of the bias follow.
Problem problem_at(const SweepSpec& s, std::int64_t value);
Options options_at(const SweepSpec& s, std::int64_t value);

}  // namespace attn
