#include "kernels/recording/timeline.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/model/problem/validate.h"

namespace attn {
namespace {

// Is it one that a recorder could have written? Pictures and sums rely on it.
class Check {
 public:
  Check(const Timeline& t, const std::string& where) : t_(t), where_(where) {}

  Result<void> check() {
    for (const auto& step :
         {&Check::sizes, &Check::times, &Check::tags, &Check::sms, &Check::points, &Check::blocks, &Check::lanes}) {
      if (auto good = (this->*step)(); !good) return good;
    }
    return ok();
  }

 private:
  Result<void> refuse(const std::string& words) const { return bad_input(where_ + ": " + words); }

  Result<void> sizes() {
    struct Limit {
      const char* what;
      std::size_t count, most;
    };
    for (const Limit& l :
         {Limit{"tags", t_.tags.size(), kMaxTags}, Limit{"SMs", t_.sms.size(), kMaxSms},
          Limit{"clock points", t_.points.size(), kMaxClockPoints}, Limit{"blocks", t_.blocks.size(), kMaxBlocks},
          Limit{"lanes", t_.lanes.size(), kMaxLanes}, Limit{"events", t_.events.size(), kMaxTimelineEvents}}) {
      if (l.count > l.most) return refuse(phrase("it has {} {}; the limit is {}.", l.count, l.what, l.most));
    }
    return ok();
  }

  Result<void> times() {
    for (const double us : {t_.plain_us, t_.traced_us, t_.launch_us}) {
      if (!(std::isfinite(us) && us >= 0)) return refuse(phrase("{} µs is not a valid time.", us));
    }
    for (const auto& [q, median] :
         {std::pair(t_.plain_quartiles, t_.plain_us), std::pair(t_.traced_quartiles, t_.traced_us)}) {
      const bool kept = q.q1 != 0 || q.q3 != 0;
      if (kept && !(q.q1 > 0 && q.q1 <= median && median <= q.q3 && std::isfinite(q.q3)))
        return refuse(phrase("the quartiles {} and {} µs do not enclose {} µs.", q.q1, q.q3, median));
    }
    if (t_.grid_blocks < 0) return refuse(phrase("a grid of {} blocks is invalid.", t_.grid_blocks));
    const bool by_host = t_.buffer == EventBuffer::host;
    if (by_host && t_.unit == MomentUnit::clocks) return refuse(tr("a host's spans are in ns, not in clock cycles."));
    return ok();
  }

  Result<void> tags() {
    std::set<std::string_view> seen;
    for (const std::string& tag : t_.tags) {
      if (tag.empty() || tag.size() > kMaxTagBytes) {
        return refuse(phrase("a tag has {} bytes; use 1 to {}.", tag.size(), kMaxTagBytes));
      }
      if (!seen.insert(tag).second) return refuse(phrase("the tag {} appears twice.", tag));
    }
    const auto done = std::ranges::find(t_.tags, kDoneTag);
    if (done == t_.tags.end() && !t_.lanes.empty()) return refuse(phrase("no tag is \"{}\".", kDoneTag));
    done_ = static_cast<std::int32_t>(done - t_.tags.begin());
    return ok();
  }

  Result<void> sms() {
    for (const SmClock& c : t_.sms) {
      const bool good = c.sm >= 0 && std::isfinite(c.ns_per_clock) && c.ns_per_clock > 0 &&
                        std::isfinite(c.residual_ns) && c.residual_ns >= 0;
      if (!good) {
        return refuse(phrase("the clock of SM {} is invalid: {} ns per cycle, accurate to within {} ns.", c.sm,
                             c.ns_per_clock, c.residual_ns));
      }
      if (!sms_.insert(c.sm).second) return refuse(phrase("SM {} appears twice.", c.sm));
    }
    return ok();
  }

  Result<void> points() {
    for (std::size_t n = 0; n < t_.points.size(); ++n) {
      const ClockPoint& p = t_.points[n];
      if (!sms_.contains(p.sm)) return refuse(phrase("it has a timestamp from SM {}, whose clock is unknown.", p.sm));
      if (n == 0 || p.sm > t_.points[n - 1].sm) continue;
      const ClockPoint& before = t_.points[n - 1];
      if (p.sm < before.sm || p.clock <= before.clock || p.ns < before.ns)
        return refuse(phrase("the timestamps of both clocks go backwards at {}.", n));
    }
    return ok();
  }

  Result<void> blocks() {
    std::set<std::int64_t> seen;
    for (const TimedBlock& b : t_.blocks) {
      if (b.block < 0 || b.block >= t_.grid_blocks) {
        return refuse(phrase("block {} is outside the grid of {}.", b.block, t_.grid_blocks));
      }
      if (!seen.insert(b.block).second) return refuse(phrase("block {} appears twice.", b.block));
      if (!sms_.contains(b.sm)) return refuse(phrase("block {} ran on SM {}, whose clock is unknown.", b.block, b.sm));
      if (b.end_ns < b.start_ns || b.end_clock < b.start_clock) {
        return refuse(phrase("block {} ends before it starts.", b.block));
      }
    }
    return ok();
  }

  Result<void> lanes() {
    std::int64_t next = 0;
    for (std::size_t n = 0; n < t_.lanes.size(); ++n) {
      const TimelineLane& lane = t_.lanes[n];
      const bool in_block = t_.unit == MomentUnit::clocks;
      const bool good = lane.index >= 0 && lane.rank >= -1 && lane.block >= (in_block ? 0 : -1) &&
                        lane.block < static_cast<std::int64_t>(t_.blocks.size());
      if (!good) return refuse(phrase("lane {} has an invalid block, rank or index.", n));
      if (lane.first != next || lane.count < 1 || lane.count > static_cast<std::int64_t>(t_.events.size()) - next) {
        return refuse(phrase(
            "the {} events of lane {} do not follow the previous lane's: of {} events, {} belong to earlier lanes.",
            lane.count, n, t_.events.size(), next));
      }
      if (auto sound = events_of(n); !sound) return sound;
      next += lane.count;
    }
    if (next == static_cast<std::int64_t>(t_.events.size())) return ok();
    return refuse(phrase("{} events belong to no lane.", static_cast<std::int64_t>(t_.events.size()) - next));
  }

  Result<void> events_of(std::size_t n) {
    const TimelineLane& lane = t_.lanes[n];
    const auto events =
        std::span(t_.events).subspan(static_cast<std::size_t>(lane.first), static_cast<std::size_t>(lane.count));
    for (std::size_t e = 0; e < events.size(); ++e) {
      const TimelineEvent& event = events[e];
      if (event.tag < 0 || event.tag >= static_cast<std::int64_t>(t_.tags.size()) || event.tile < -1 ||
          event.slot < -1) {
        return refuse(phrase("event {} of lane {} has an invalid tag, tile or slot.", e, n));
      }
      if (e > 0 && event.at < events[e - 1].at) {
        return refuse(phrase("lane {} goes backwards from {} to {} at event {}.", n, events[e - 1].at, event.at, e));
      }
      if ((event.tag == done_) != (e + 1 == events.size())) {
        return refuse(
            phrase("lane {} must end with \"{}\", which must not appear anywhere else (event {}).", n, kDoneTag, e));
      }
    }
    if (lane.block < 0) return ok();
    const TimedBlock& block = t_.blocks[static_cast<std::size_t>(lane.block)];
    const bool by_clock = t_.unit == MomentUnit::clocks;
    const std::int64_t start = by_clock ? block.start_clock : block.start_ns;
    const std::int64_t end = by_clock ? block.end_clock : block.end_ns;
    if (events.front().at >= start && events.back().at <= end) return ok();
    return refuse(phrase("lane {} runs from {} to {}, outside its block's {} to {}.", n, events.front().at,
                         events.back().at, start, end));
  }

  const Timeline& t_;
  const std::string& where_;
  std::set<std::int32_t> sms_;
  std::int32_t done_ = -1;
};

}  // namespace

Result<void> check_timeline(const Timeline& t, const std::string& where) {
  if (auto good = validate(t.problem); !good) return bad_input(where + ": " + good.error().message);
  return Check(t, where).check();
}

}  // namespace attn
