// Which points of a sweep rows of an earlier run have finished.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/spec/measure_spec.h"
#include "profiling/spec/sweep_spec.h"

namespace attn {

// Is `m` what this point would give again: finished, same kernel and source, problem, options, L2 state and device?
bool is_finished_point(const Measurement& m, const KernelRow& row, const Point& p, const Device& device);
// Points of the sweep, and how many of them `rows` have finished on these devices.
struct SweepCount {
  std::size_t points = 0, finished = 0;
};
SweepCount count_finished(const SweepSpec& s, std::span<const Measurement> rows, const Device& gpu);
// With rows of the caller's own in place of spec.kernels, the user's own kernels among them.
SweepCount count_finished(const SweepSpec& s, std::span<const KernelRow* const> kernels,
                          std::span<const Measurement> rows, const Device& gpu);

}  // namespace attn
