#include "kernels/recording/lanes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include "kernels/model/order_row.h"

namespace attn {
namespace {

// Where a step of a part stands among those of all parts.
using Turn = std::tuple<std::int32_t, std::int32_t, std::int64_t>;  // key tile of its part, phase, part

// The order in which events follow one another.
std::vector<EventIndex> turns_of(const Recording& rec) {
  const OrderRow& row = order_row(rec.order);
  std::vector<EventIndex> sequence(rec.events.size());
  std::iota(sequence.begin(), sequence.end(), 0U);
  const auto same_rows = [&](EventIndex a, EventIndex b) {
    const EventId &x = rec.events[a].id, &y = rec.events[b].id;
    return x.b == y.b && x.h == y.h && x.i == y.i;
  };
  for (EventIndex first = 0; first < rec.events.size();) {
    EventIndex end = first;
    while (end < rec.events.size() && same_rows(first, end) && rec.lane_of(end)) ++end;
    std::map<std::int64_t, std::set<std::int32_t>> met;  // by part: its key tiles so far
    std::vector<Turn> turn;
    for (EventIndex e = first; e < end; ++e) {
      const EventId& id = rec.events[e].id;
      const std::int64_t lane = *rec.lane_of(e);
      const bool begins = id.phase == Phase::load_q, ends = id.phase == Phase::store_state;
      if (!begins && !ends) met[lane].insert(id.j);
      const std::int32_t tile = begins ? -1
                                : ends ? std::numeric_limits<std::int32_t>::max()
                                       : static_cast<std::int32_t>(met[lane].size());
      turn.emplace_back(tile, row.place[static_cast<std::size_t>(id.phase)], lane);
    }
    std::stable_sort(sequence.begin() + first, sequence.begin() + end,
                     [&](EventIndex a, EventIndex b) { return turn[a - first] < turn[b - first]; });
    first = std::max(end, first + 1);
  }
  return sequence;
}

}  // namespace

void interleave_lanes(Recording& rec) {
  const std::vector<EventIndex> sequence = turns_of(rec);
  const std::size_t own = order_row(rec.order).own_slots.size();
  std::vector<Event> events;
  std::vector<VersionId> own_after;
  std::vector<EventIndex> moved(sequence.size());
  std::array<std::uint64_t, 8> bytes{};
  events.reserve(sequence.size());
  for (std::size_t n = 0; n < sequence.size(); ++n) {
    const EventIndex e = sequence[n];
    moved[e] = static_cast<EventIndex>(n);
    events.push_back(rec.events[e]);
    for (std::size_t part = 0; part < bytes.size(); ++part) {
      bytes[part] += rec.events[e].hbm_bytes[part] - (e == 0 ? 0 : rec.events[e - 1].hbm_bytes[part]);
      events.back().hbm_bytes[part] = bytes[part];
    }
    const auto row = rec.own_after.begin() + static_cast<std::ptrdiff_t>(e * own);
    own_after.insert(own_after.end(), row, row + static_cast<std::ptrdiff_t>(own));
  }
  rec.events = std::move(events);
  rec.own_after = std::move(own_after);
  for (Version& v : rec.versions) v.made_by = moved[v.made_by];
  rec.build_index();
}

}  // namespace attn
