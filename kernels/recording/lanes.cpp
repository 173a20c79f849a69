#include "kernels/recording/lanes.h"

#include <algorithm>
#include <array>
#include <compare>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"

namespace attn {
namespace {

// Where a step stands among those of all lanes: turn of a ring, the outer of a rank's tiles (of parts 0), the inner
// one, phase, lane.
struct Turn {
  std::int64_t turn = 0, outer = 0, inner = 0;
  std::int32_t phase = 0;
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

// Events that take turns among themselves, as they come: parts of the same rows, or ranks of the same head.
class LaneTurns {
 public:
  explicit LaneTurns(const Recording& rec) : rec_(rec), row_(order_row(rec.order)) {}

  bool ranks() const { return row_.abreast == Abreast::ranks; }
  bool takes(EventIndex first, EventIndex e) const {
    const EventId &x = rec_.events[first].id, &y = rec_.events[e].id;
    const bool head = row_.heads_share_keys ? rec_.problem.kv_head(x.h) == rec_.problem.kv_head(y.h) : x.h == y.h;
    return x.b == y.b && head && (ranks() || x.i == y.i) && rec_.lane_of(e);
  }
  void add(EventIndex e) {
    turns_.push_back(!ranks() ? turn_of_part(e) : row_.keys_outside ? turn_of_keys(e) : turn_of_rank(e));
  }
  // Of the nth that was added.
  const Turn& turn(std::size_t n) const { return turns_[n]; }
  std::size_t size() const { return turns_.size(); }

 private:
  Turn turn_of_part(EventIndex e) {
    const EventId& id = rec_.events[e].id;
    const std::int64_t lane = *rec_.lane_of(e);
    return {0, 0, tile_of(row_, id, met_[{0, lane}]), row_.place[static_cast<std::size_t>(id.phase)], lane};
  }
  // Key tile outside: K and V come, the query tiles pass by, the sums are kept. Of queries alone before the tiles or
  // after them, and of keys alone at the end.
  Turn turn_of_keys(EventIndex e) {
    const EventId& id = rec_.events[e].id;
    const std::int64_t lane = *rec_.lane_of(e), turn = attn::turn_of(rec_, id);
    const std::int32_t place = row_.place[static_cast<std::size_t>(id.phase)];
    if (row_.sends(id.phase)) return {turn, kBegins, kBegins, place, lane};
    const std::int64_t rows = id.i < 0 ? 0 : id.h * ring_.query_tiles + ring_.nth_of(ring_.queries(), id.i);
    if (id.j < 0) return {turn, kBegins, rows, place, lane};
    const std::int64_t tile = ring_.nth_of(ring_.keys(), id.j);
    if (row_.phase(id.phase)->visits_keys) return {turn, tile, kBegins, place, lane};
    return {turn, tile, row_.in_lane[static_cast<std::size_t>(id.phase)] ? rows : kEnds, place, lane};
  }
  // What is sent leaves before anything is computed; after the last turn all is divided.
  Turn turn_of_rank(EventIndex e) {
    const EventId& id = rec_.events[e].id;
    const std::int64_t lane = *rec_.lane_of(e), turn = attn::turn_of(rec_, id);
    auto& rows = rows_of_[lane];
    if (std::ranges::find(rows, id.i) == rows.end()) rows.push_back(id.i);
    const std::int64_t nth = std::ranges::find(rows, id.i) - rows.begin();
    const std::int32_t place = row_.place[static_cast<std::size_t>(id.phase)];
    const bool sends = row_.sends(id.phase);
    return {turn, sends ? -1 : nth, sends ? kBegins : tile_of(row_, id, met_[{id.i, turn}]), place, lane};
  }

  const Recording& rec_;
  const OrderRow& row_;
  const Ring ring_ = ring_of(rec_.options, rec_.query_tiles(), rec_.key_tiles());
  std::map<std::int64_t, std::vector<std::int32_t>> rows_of_;  // by rank: its query tiles, as they come
  // Key tiles so far, by part, or by query tile and turn.
  std::map<std::pair<std::int32_t, std::int64_t>, std::set<std::int32_t>> met_;
  std::vector<Turn> turns_;
};

// What is found of the lanes so far.
struct Found {
  std::vector<EventIndex> sequence, moved;
  EventIndex first = 0;  // not in sequence yet
  std::vector<Event> events;
  std::vector<VersionId> own_after;
  std::array<std::uint64_t, 8> bytes{};
};

// The events from found.first on that are of one group, in the order in which they follow one another; whether there
// are more.
bool next_group(const Recording& rec, WalkMark& mark, Found& found) {
  constexpr std::int64_t kSome = 2048;  // events that are added or sorted at a time
  auto& group = mark.kept<LaneTurns>(rec);
  auto& first = mark.kept<EventIndex>(found.first);
  const auto add = [&] {
    for (std::int64_t n = 0; n < kSome; ++n) {
      const auto e = static_cast<EventIndex>(first + group.size());
      if (e >= rec.events.size() || !group.takes(first, e)) return false;
      group.add(e);
      found.sequence.push_back(e);
    }
    return true;
  };
  mark.repeat(add, WalkMark::kLook);
  const auto begin = found.sequence.begin() + first;
  const auto sooner = [&](EventIndex a, EventIndex b) { return group.turn(a - first) < group.turn(b - first); };
  const auto count = static_cast<std::int64_t>(group.size());
  const auto at = [&](std::int64_t n) { return begin + std::min(n, count); };
  const auto sort = [&](std::int64_t n) { std::stable_sort(at(n * kSome), at((n + 1) * kSome), sooner); };
  mark.each(0, (count + kSome - 1) / kSome, sort, WalkMark::kLook);
  for (std::int64_t wide = kSome; wide < count; wide *= 2) {
    const auto merge = [&](std::int64_t n) {
      std::inplace_merge(at(2 * n * wide), at((2 * n + 1) * wide), at((2 * n + 2) * wide), sooner);
    };
    mark.each(0, (count + 2 * wide - 1) / (2 * wide), merge, WalkMark::kLook);
  }
  mark.once([&] {
    const EventIndex alone = count == 0 && first < rec.events.size() ? 1 : 0;  // it is of no lane
    if (alone == 1) found.sequence.push_back(first);
    found.first = static_cast<EventIndex>(first + count) + alone;
  });
  return found.first > first;
}

// Event n of the sequence, with the bytes until then.
void place_event(const Recording& rec, std::size_t n, Found& found) {
  const std::size_t own = order_row(rec.order).own_slots.size();
  const EventIndex e = found.sequence[n];
  found.moved[e] = static_cast<EventIndex>(n);
  found.events.push_back(rec.events[e]);
  for (std::size_t part = 0; part < found.bytes.size(); ++part) {
    found.bytes[part] += rec.events[e].hbm_bytes[part] - (e == 0 ? 0 : rec.events[e - 1].hbm_bytes[part]);
    found.events.back().hbm_bytes[part] = found.bytes[part];
  }
  const auto row = rec.own_after.begin() + static_cast<std::ptrdiff_t>(e * own);
  found.own_after.insert(found.own_after.end(), row, row + static_cast<std::ptrdiff_t>(own));
}

}  // namespace

std::int64_t turn_of(const Recording& rec, const EventId& id) {
  const Ring ring = ring_of(rec.options, rec.query_tiles(), rec.key_tiles());
  if (id.i >= 0 && id.j >= 0) return ring.turn_of(ring.rank_of_queries(id.i), id.j);
  return order_row(rec.order).before_tiles(id.phase) ? 0 : ring.ranks;
}

bool same_turn(const Recording& rec, const EventId& a, const EventId& b) {
  const bool head =
      order_row(rec.order).heads_share_keys ? rec.problem.kv_head(a.h) == rec.problem.kv_head(b.h) : a.h == b.h;
  return a.b == b.b && head && turn_of(rec, a) == turn_of(rec, b);
}

void interleave_lanes(Recording& rec, WalkMark& mark) {
  constexpr std::int64_t kPlaced = 256;  // multiply-adds that an event costs
  auto& found = mark.kept<Found>();
  mark.once([&] {
    found.moved.resize(rec.events.size());
    found.sequence.reserve(rec.events.size());
    found.events.reserve(rec.events.size());
    found.own_after.reserve(rec.own_after.size());
  });
  mark.repeat([&] { return next_group(rec, mark, found); });
  mark.blocks(static_cast<std::int64_t>(rec.events.size()), kPlaced, [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t at = first; at < first + n; ++at) place_event(rec, static_cast<std::size_t>(at), found);
  });
  mark.once([&] {
    rec.events = std::move(found.events);
    rec.own_after = std::move(found.own_after);
  });
  mark.blocks(static_cast<std::int64_t>(rec.versions.size()), 16, [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t v = first; v < first + n; ++v) {
      Version& version = rec.versions[static_cast<std::size_t>(v)];
      version.made_by = found.moved[version.made_by];
    }
  });
}

}  // namespace attn
