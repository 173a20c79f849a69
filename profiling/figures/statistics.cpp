#include "profiling/figures/statistics.h"

#include <algorithm>
#include <cmath>

namespace attn {

double quantile(std::span<const double> sorted, double q) {
  const double position = static_cast<double>(sorted.size() - 1) * q;
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double share = position - static_cast<double>(below);
  return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

MedianInterval median_interval(std::int32_t n) {
  MedianInterval interval{0, std::max(0, n - 1), false};
  // log P(exactly i of n) by recurrence: 2^-n underflows from n = 1075 on, and lgamma writes a global.
  double log_exactly = -n * std::log(2.0);
  double at_most = 0;
  for (std::int32_t i = 0; i < n / 2; ++i) {
    at_most += std::exp(log_exactly);
    if (at_most > 0.025) break;
    interval = {i, n - 1 - i, true};
    log_exactly += std::log(static_cast<double>(n - i) / (i + 1));
  }
  return interval;
}

namespace {

struct Interval {
  double low, median, high;
  bool enough, split;
};

Interval interval_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const MedianInterval ranks = median_interval(static_cast<std::int32_t>(samples.size()));
  return {samples[static_cast<std::size_t>(ranks.low)], quantile(samples, 0.5),
          samples[static_cast<std::size_t>(ranks.high)], ranks.enough, is_split(samples)};
}

std::vector<double> copy_of(std::span<const double> samples) {
  return {samples.begin(), samples.end()};
}

}  // namespace

bool is_split(std::span<const double> sorted) {
  constexpr double kFew = 0.1, kRanges = 3, kShareOfMedian = 0.05;
  if (sorted.size() < 2) return false;
  const double least = kShareOfMedian * quantile(sorted, 0.5);
  const auto few = static_cast<std::size_t>(kFew * static_cast<double>(sorted.size()));
  for (std::size_t below = few + 1; below + few + 1 <= sorted.size(); ++below) {
    const double gap = sorted[below] - sorted[below - 1];
    if (gap <= least) continue;
    const auto others = 2 * below >= sorted.size() ? sorted.first(below) : sorted.subspan(below);
    if (gap > kRanges * (quantile(others, 0.75) - quantile(others, 0.25))) return true;
  }
  return false;
}

bool has_drifted(std::span<const double> samples) {
  const std::size_t third = samples.size() / 3;
  if (third < 6) return false;
  const Interval first = interval_of(copy_of(samples.first(third)));
  const Interval last = interval_of(copy_of(samples.last(third)));
  const bool apart = first.high < last.low || last.high < first.low;
  return apart && std::abs(first.median - last.median) > 0.01 * std::min(first.median, last.median);
}

TimeStatistics statistics_of(std::span<const double> samples, double settled_share) {
  TimeStatistics t;
  t.n = static_cast<std::int32_t>(samples.size());
  if (samples.empty()) return t;
  std::vector<double> sorted = copy_of(samples);
  std::sort(sorted.begin(), sorted.end());
  t.median = quantile(sorted, 0.5);
  t.q1 = quantile(sorted, 0.25);
  t.q3 = quantile(sorted, 0.75);
  t.min = sorted.front();
  t.max = sorted.back();
  const MedianInterval ranks = median_interval(t.n);
  t.ci_low = sorted[static_cast<std::size_t>(ranks.low)];
  t.ci_high = sorted[static_cast<std::size_t>(ranks.high)];
  t.settled = ranks.enough && t.ci_high - t.ci_low < settled_share * t.median && !is_split(sorted);
  t.drifted = has_drifted(samples);
  return t;
}

bool MinRepeats::met(const RepeatsSoFar& r) const {
  return r.samples_us.size() >= static_cast<std::size_t>(count);
}

bool MaxRepeats::met(const RepeatsSoFar& r) const {
  return r.samples_us.size() >= static_cast<std::size_t>(count);
}

bool TimeLimit::met(const RepeatsSoFar& r) const {
  return r.elapsed_s >= seconds;
}

bool Settled::met(const RepeatsSoFar& r) const {
  if (r.samples_us.empty()) return false;
  const Interval i = interval_of(copy_of(r.samples_us));
  return i.enough && i.high - i.low < share * i.median && !i.split;
}

StopRule::StopRule(MinRepeats min, Settled settled, TimeLimit limit)
    : min_(min), settled_(settled), limit_(limit), give_up_{4 * limit.seconds} {}

bool StopRule::stop(const RepeatsSoFar& r) {
  if (r.samples_us.empty()) return false;
  if (give_up_.met(r) || max_.met(r)) return true;
  if (!min_.met(r)) return false;
  if (limit_.met(r)) return true;
  if (r.samples_us.size() < next_look_) return false;
  next_look_ = r.samples_us.size() + std::max<std::size_t>(1, r.samples_us.size() / 8);
  return settled_.met(r);
}

}  // namespace attn
