// The points of a sweep, before anything runs: their kernels, problems and options, how each is measured, and what is
// refused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/kernel.h"
#include "profiling/spec/measure_spec.h"
#include "profiling/spec/sweep_spec.h"

namespace attn {

// The rows of spec.kernels, in that order, or which name is no kernel. They live as long as spec.own or the program.
Result<std::vector<const KernelRow*>> kernels_of(const SweepSpec& s);
// Axis values in range, kernels known: refused before anything runs.
Result<void> validate(const SweepSpec& s);
// The same with rows of the caller's own in place of spec.kernels.
Result<void> validate(const SweepSpec& s, std::span<const KernelRow* const> rows);
// The problem and options of one point. D changes Dv too where the base has Dv = D; extents of the bias follow.
Problem problem_at(const SweepSpec& s, std::int64_t value);
Options options_at(const SweepSpec& s, std::int64_t value);
// A ring whose threads nobody chose has those of threads_of_rank() (ring_point.h).
Point point_at(const SweepSpec& s, const KernelRow& row, std::int64_t value);

}  // namespace attn
