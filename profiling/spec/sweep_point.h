// A point of a sweep: its problem and options, and how the sweep's points are measured.
#pragma once

#include <cstdint>

#include "kernels/model/kernel.h"
#include "profiling/spec/measure_spec.h"
#include "profiling/spec/sweep_spec.h"

namespace attn {

// A ring whose threads nobody chose has those of threads_of_rank() (ring_point.h).
Point point_at(const SweepSpec& s, const KernelRow& row, std::int64_t value);

}  // namespace attn
