#include "kernels/recording/timeline_clocks.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace attn {
namespace {

constexpr std::int64_t kLeastApart = 128;  // clocks
constexpr double kTimerStepNs = 32;        // %globaltimer's on an H100: nothing is known better than that

std::span<const ClockPoint> points_of(const Timeline& t, std::int32_t sm) {
  const auto of = std::ranges::equal_range(t.points, sm, {}, &ClockPoint::sm);
  return {of.begin(), of.end()};
}

double along(const ClockPoint& a, const ClockPoint& b, std::int64_t clock) {
  const double rate = static_cast<double>(b.ns - a.ns) / static_cast<double>(b.clock - a.clock);
  return static_cast<double>(a.ns) + static_cast<double>(clock - a.clock) * rate;
}

// Blocks that share an SM read its clocks in turns, and between its two reads a warp may have to wait: what lies too
// near to the moment before, or goes back, says nothing of the rate.
std::vector<ClockPoint> thinned(std::span<const ClockPoint> points) {
  std::vector<ClockPoint> kept;
  for (const ClockPoint& p : points) {
    const bool first = kept.empty() || kept.back().sm != p.sm;
    if (first || (p.clock - kept.back().clock >= kLeastApart && p.ns > kept.back().ns)) kept.push_back(p);
  }
  return kept;
}

SmClock clock_of(std::span<const ClockPoint> points) {
  const ClockPoint origin = points.front();
  const auto n = static_cast<double>(points.size());
  double clock = 0, ns = 0, over = 0, under = 0;
  for (const ClockPoint& p : points) {
    clock += static_cast<double>(p.clock - origin.clock) / n;
    ns += static_cast<double>(p.ns - origin.ns) / n;
  }
  for (const ClockPoint& p : points) {
    const double x = static_cast<double>(p.clock - origin.clock) - clock;
    over += x * (static_cast<double>(p.ns - origin.ns) - ns);
    under += x * x;
  }
  SmClock c;
  c.sm = origin.sm;
  c.clock = origin.clock + std::llround(clock);
  c.ns = origin.ns + std::llround(ns);
  c.ns_per_clock = under > 0 && over > 0 ? over / under : 1;
  c.residual_ns = kTimerStepNs;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double told = along(points[i - 1], points[i + 1], points[i].clock);
    c.residual_ns = std::max(c.residual_ns, std::fabs(told - static_cast<double>(points[i].ns)));
  }
  return c;
}

}  // namespace

void set_clocks(Timeline& t) {
  std::ranges::sort(t.points);
  t.points = thinned(t.points);
  t.sms.clear();
  for (auto at = t.points.begin(); at != t.points.end();) {
    const auto end = std::find_if(at, t.points.end(), [&](const ClockPoint& p) { return p.sm != at->sm; });
    t.sms.push_back(clock_of({at, end}));
    at = end;
  }
}

double ns_at(const Timeline& t, std::int32_t sm, std::int64_t clock) {
  const std::span<const ClockPoint> points = points_of(t, sm);
  if (points.size() >= 2) {
    const auto after = std::ranges::upper_bound(points, clock, {}, &ClockPoint::clock);
    const auto last = std::clamp<std::ptrdiff_t>(after - points.begin(), 1, std::ssize(points) - 1);
    return along(points[static_cast<std::size_t>(last) - 1], points[static_cast<std::size_t>(last)], clock);
  }
  const auto c = std::ranges::find(t.sms, sm, &SmClock::sm);
  if (c == t.sms.end()) return static_cast<double>(clock);
  return static_cast<double>(c->ns) + static_cast<double>(clock - c->clock) * c->ns_per_clock;
}

}  // namespace attn
