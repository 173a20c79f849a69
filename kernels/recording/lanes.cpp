#include "kernels/recording/lanes.h"

#include <algorithm>
#include <compare>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"

namespace attn {
namespace {

// Where a step stands among those of all lanes: turn of a ring and query tile of a rank (of parts 0), key tile, phase,
// lane.
struct Turn {
  std::int64_t turn = 0, rows = 0;
  std::int32_t tile = 0, phase = 0;
  std::int64_t lane = 0;
  auto operator<=>(const Turn&) const = default;
};
constexpr std::int32_t kBegins = -1, kEnds = std::numeric_limits<std::int32_t>::max();

// What a step does with key tiles: the how manieth of `met` it is of.
std::int32_t tile_of(const OrderRow& row, const EventId& id, std::set<std::int32_t>& met) {
  if (id.phase == Phase::load_q) return kBegins;
  if (!row.in_lane[static_cast<std::size_t>(id.phase)] || id.phase == Phase::store_state) return kEnds;
  met.insert(id.j);
  return static_cast<std::int32_t>(met.size());
}

// Of parts, whose rows these are: the turns of the events [first, end).
std::vector<Turn> turns_of_parts(const Recording& rec, EventIndex first, EventIndex end) {
  const OrderRow& row = order_row(rec.order);
  std::map<std::int64_t, std::set<std::int32_t>> met;  // by part: its key tiles so far
  std::vector<Turn> turns;
  for (EventIndex e = first; e < end; ++e) {
    const EventId& id = rec.events[e].id;
    const std::int64_t lane = *rec.lane_of(e);
    turns.push_back({0, 0, tile_of(row, id, met[lane]), row.place[static_cast<std::size_t>(id.phase)], lane});
  }
  return turns;
}

// Of ranks, of one head. What is sent leaves before anything is computed; after the last turn all is divided.
std::vector<Turn> turns_of_ranks(const Recording& rec, EventIndex first, EventIndex end) {
  const OrderRow& row = order_row(rec.order);
  const Phase send = *phase_named("send");
  std::map<std::int64_t, std::vector<std::int32_t>> rows_of;  // by rank: its query tiles, as they come
  std::map<std::pair<std::int32_t, std::int64_t>, std::set<std::int32_t>> met;  // by query tile and turn
  std::vector<Turn> turns;
  for (EventIndex e = first; e < end; ++e) {
    const EventId& id = rec.events[e].id;
    const std::int64_t lane = *rec.lane_of(e), turn = turn_of(rec, id);
    auto& rows = rows_of[lane];
    if (std::ranges::find(rows, id.i) == rows.end()) rows.push_back(id.i);
    const std::int64_t nth = std::ranges::find(rows, id.i) - rows.begin();
    const std::int32_t place = row.place[static_cast<std::size_t>(id.phase)];
    const bool sends = id.phase == send;
    turns.push_back({turn, sends ? -1 : nth, sends ? kBegins : tile_of(row, id, met[{id.i, turn}]), place, lane});
  }
  return turns;
}

// The order in which events follow one another.
std::vector<EventIndex> turns_of(const Recording& rec) {
  const bool ranks = order_row(rec.order).abreast == Abreast::ranks;
  std::vector<EventIndex> sequence(rec.events.size());
  std::iota(sequence.begin(), sequence.end(), 0U);
  const auto together = [&](EventIndex a, EventIndex b) {
    const EventId &x = rec.events[a].id, &y = rec.events[b].id;
    return x.b == y.b && x.h == y.h && (ranks || x.i == y.i);
  };
  for (EventIndex first = 0; first < rec.events.size();) {
    EventIndex end = first;
    while (end < rec.events.size() && together(first, end) && rec.lane_of(end)) ++end;
    const std::vector<Turn> turn = ranks ? turns_of_ranks(rec, first, end) : turns_of_parts(rec, first, end);
    std::stable_sort(sequence.begin() + first, sequence.begin() + end,
                     [&](EventIndex a, EventIndex b) { return turn[a - first] < turn[b - first]; });
    first = std::max(end, first + 1);
  }
  return sequence;
}

}  // namespace

std::int64_t turn_of(const Recording& rec, const EventId& id) {
  const Ring ring = ring_of(rec.options, rec.query_tiles(), rec.key_tiles());
  return id.i < 0 || id.j < 0 ? ring.ranks : ring.turn_of(ring.rank_of_queries(id.i), id.j);
}

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
