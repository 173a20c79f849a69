// The points of a sweep in the order in which they are measured. For this room; others read sweep.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/model/kernel.h"
#include "profiling/sweep/sweep.h"
#include "profiling/sweep/time_left.h"

namespace attn {

struct SweepPoint {
  const KernelRow* row = nullptr;
  std::int64_t value = 0;
};

// Does a change along the axis change what this kernel does? Every kernel reads the problem's extents; an option that
// takes one value only (the threads of cpu_sequential) is no choice.
bool reads_axis(const KernelRow& row, Axis a);

Result<std::vector<const KernelRow*>> kernels_of(const SweepSpec& s);
Result<void> validate_points(const SweepSpec& s, std::span<const KernelRow* const> rows);
std::vector<SweepPoint> points_of(const SweepSpec& s, std::span<const KernelRow* const> rows);
PointCost cost_of(const SweepSpec& s, const SweepPoint& point);

}  // namespace attn
