#include "profiling/sweep/points.h"

#include <algorithm>
#include <string>

#include "kernels/model/problem/costs.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"

namespace attn {

std::vector<SweepPoint> points_of(const SweepSpec& s, std::span<const KernelRow* const> rows) {
  std::vector<const KernelRow*> ordered(rows.begin(), rows.end());
  std::stable_partition(ordered.begin(), ordered.end(),
                        [&](const KernelRow* row) { return row->id == baseline_of(row->processor, s.base.pass); });
  std::vector<SweepPoint> points;
  for (const std::int64_t value : s.values)
    for (const KernelRow* row : ordered)
      if (reads_axis(*row, s.axis) || value == s.values.front()) points.push_back({row, value});
  return points;
}

PointCost cost_of(const SweepSpec& s, const SweepPoint& point) {
  return {std::string(point.row->id), flops_of(problem_at(s, point.value))};
}

}  // namespace attn
