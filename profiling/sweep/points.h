// The points of a sweep in the order in which they are measured. For this room; others read sweep.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/model/kernel.h"
#include "profiling/spec/sweep_spec.h"
#include "profiling/sweep/time_left.h"

namespace attn {

struct SweepPoint {
  const KernelRow* row = nullptr;
  std::int64_t value = 0;
};

std::vector<SweepPoint> points_of(const SweepSpec& s, std::span<const KernelRow* const> rows);
PointCost cost_of(const SweepSpec& s, const SweepPoint& point);

}  // namespace attn
