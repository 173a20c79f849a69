#include "profiling/sweep/time_left.h"

#include <algorithm>

namespace attn {

TimeLeft::TimeLeft(double limit_s, std::int32_t min_repeats) : limit_s_(limit_s), min_(min_repeats) {}

void TimeLeft::knows(const std::string& kernel, double flops_per_s) {
  if (flops_per_s > 0) flops_per_s_[kernel] = flops_per_s;
}

void TimeLeft::finished(const PointCost& point, double median_s, double point_s) {
  if (median_s > 0) knows(point.kernel, point.flops / median_s);
  if (flops_per_s_.empty()) return;
  expected_sum_ += expected(point);
  actual_sum_ += point_s;
}

bool TimeLeft::knows_all(std::span<const PointCost> points) const {
  return std::all_of(points.begin(), points.end(), [&](const PointCost& p) { return flops_per_s_.contains(p.kernel); });
}

// A run for the check, one to warm up, then the repeats: as many as fit the limit, at least `least_`, those at most
// for four limits (StopRule).
double TimeLeft::expected(const PointCost& point) const {
  double rate = 0;
  if (const auto known = flops_per_s_.find(point.kernel); known != flops_per_s_.end()) {
    rate = known->second;
  } else {
    for (const auto& [kernel, r] : flops_per_s_) rate += r / static_cast<double>(flops_per_s_.size());
  }
  const double run_s = point.flops / rate;
  const double repeats_s = std::clamp(min_ * run_s, limit_s_, std::max(4 * limit_s_, run_s));
  return 2 * run_s + repeats_s;
}

double TimeLeft::seconds(std::span<const PointCost> points) const {
  if (points.empty()) return 0;
  if (flops_per_s_.empty()) return -1;
  double sum = 0;
  for (const PointCost& p : points) sum += expected(p);
  const double correction = expected_sum_ > 0 ? actual_sum_ / expected_sum_ : 1;
  return sum * correction;
}

}  // namespace attn
