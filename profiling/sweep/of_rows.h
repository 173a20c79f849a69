// What a sweep of rows of the caller's own comes to, the user's own kernels among them: as the functions of sweep.h,
// with these rows in place of spec.kernels. Such a sweep is run by run_sweep().
#pragma once

#include <span>

#include "profiling/sweep/sweep.h"

namespace attn {

SweepEstimate estimate(const SweepSpec& s, std::span<const KernelRow* const> rows, std::span<const Measurement> known);
SweepCount count_finished(const SweepSpec& s, std::span<const KernelRow* const> kernels,
                          std::span<const Measurement> rows, const Device& gpu);

}  // namespace attn
