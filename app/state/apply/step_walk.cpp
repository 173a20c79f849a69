// step_from: walking a recording by phase, key tile and query tile.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <vector>

#include "app/state/apply/apply.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/recording/lanes.h"

namespace attn {
namespace {

bool same_row(const EventId& a, const EventId& b) {
  return a.b == b.b && a.h == b.h && a.i == b.i;
}

bool same_tile(const Event& a, const Event& b) {
  return same_row(a.id, b.id) && a.id.j == b.id.j && a.pass == b.pass;
}

// How far `candidate` is from standing at phase `wanted`, in steps of the order's walk. A skipped tile has no phases:
// nothing is nearer than another.
std::ptrdiff_t phase_distance(const Recording& rec, Phase candidate, Phase wanted) {
  if (wanted == Phase::skipped || candidate == Phase::skipped) return 0;
  const std::vector<WalkStep>& walk = order_row(rec.order).walk;
  const auto place = [&](Phase p) { return std::ranges::find(walk, p, &WalkStep::phase) - walk.begin(); };
  return std::abs(place(candidate) - place(wanted));
}

// First event from `e` in `direction` (e itself not) that `wanted` takes.
template <class Wanted>
std::optional<EventIndex> seek(const Recording& rec, EventIndex e, int direction, const Wanted& wanted) {
  const auto n = static_cast<std::int64_t>(rec.events.size());
  for (std::int64_t at = static_cast<std::int64_t>(e) + direction; at >= 0 && at < n; at += direction) {
    if (wanted(rec.events[static_cast<std::size_t>(at)])) return static_cast<EventIndex>(at);
  }
  return std::nullopt;
}

// The event nearest to `phase` in the run of events that belong to the tile of `inside`; the first of equals.
EventIndex nearest_in_tile(const Recording& rec, EventIndex inside, Phase phase) {
  const Event& tile = rec.events[inside];
  EventIndex first = inside;
  while (first > 0 && same_tile(rec.events[first - 1], tile)) --first;
  EventIndex best = first;
  const auto distance = [&](EventIndex e) { return phase_distance(rec, rec.events[e].id.phase, phase); };
  for (EventIndex e = first; e < rec.events.size() && same_tile(rec.events[e], tile); ++e) {
    if (distance(e) < distance(best)) best = e;
  }
  return best;
}

// `best`, unless it lies on the other side of `e` than `found`: a step forwards never goes back (orders that walk in
// passes meet a tile more than once).
EventIndex onwards(EventIndex e, EventIndex best, EventIndex found) {
  return (best > e) == (found > e) && best != e ? best : found;
}

EventIndex key_tile_step(const Recording& rec, EventIndex e, int direction) {
  const Event& from = rec.events[e];
  const auto next_j = [&](const Event& c) {
    return c.id.j >= 0 && c.id.j != from.id.j && same_row(c.id, from.id) && c.pass == from.pass;
  };
  const auto next_tile = [&](const Event& c) { return c.id.j >= 0 && !same_tile(c, from); };
  auto found = seek(rec, e, direction, next_j);
  if (!found) found = seek(rec, e, direction, next_tile);
  return found ? onwards(e, nearest_in_tile(rec, *found, from.id.phase), *found) : e;
}

EventIndex query_tile_step(const Recording& rec, EventIndex e, int direction) {
  const Event& from = rec.events[e];
  const auto other_row = [&](const Event& c) { return c.id.i >= 0 && !same_row(c.id, from.id); };
  const auto found = seek(rec, e, direction, other_row);
  if (!found) return e;
  const Event& row = rec.events[*found];
  // With key tiles outside, the next query tile is met at its own j; with query tiles outside j is kept.
  const std::int32_t j = order_row(rec.order).keys_outside ? row.id.j : from.id.j;
  if (const auto exact = rec.find({row.id.b, row.id.h, row.id.i, j, from.id.phase}, row.pass)) {
    return onwards(e, *exact, *found);
  }
  EventIndex best = *found;
  const auto distance = [&](const Event& c) {
    return std::tuple(std::abs(c.id.j - j), phase_distance(rec, c.id.phase, from.id.phase));
  };
  for (EventIndex at = 0; at < rec.events.size(); ++at) {
    const Event& c = rec.events[at];
    if (!same_row(c.id, row.id) || c.pass != row.pass) continue;
    if (distance(c) < distance(rec.events[best])) best = at;
  }
  return onwards(e, best, *found);
}

// ---- a ring: its ranks do a phase at once

bool at_once(const Recording& rec, EventIndex a, EventIndex b) {
  const EventId &x = rec.events[a].id, &y = rec.events[b].id;
  return x.h == y.h && x.phase == y.phase && same_turn(rec, x, y);
}

// To where all ranks have done the next phase; back, the phase before.
EventIndex all_ranks_step(const Recording& rec, EventIndex e, int direction) {
  const auto last = static_cast<EventIndex>(rec.events.size() - 1);
  if (direction < 0) {
    EventIndex first = e;
    while (first > 0 && at_once(rec, first - 1, e)) --first;
    return first == 0 ? 0 : first - 1;
  }
  const bool ends = e == last || !at_once(rec, e, e + 1);
  EventIndex to = ends ? std::min<EventIndex>(e + 1, last) : e;
  while (to < last && at_once(rec, to, to + 1)) ++to;
  return to;
}

// To the first phase of the next turn, or of the next head; back to that of this turn, or of the one before.
EventIndex turn_step(const Recording& rec, EventIndex e, int direction) {
  const auto same = [&](EventIndex a, EventIndex b) { return same_turn(rec, rec.events[a].id, rec.events[b].id); };
  const auto last = static_cast<EventIndex>(rec.events.size() - 1);
  const auto begin_of = [&](EventIndex at) {
    while (at > 0 && same(at - 1, at)) --at;
    return at;
  };
  const auto all_of = [&](EventIndex at) {
    while (at < last && at_once(rec, at, at + 1)) ++at;
    return at;
  };
  const EventIndex begin = begin_of(e);
  if (direction < 0) return all_of(e > all_of(begin) || begin == 0 ? begin : begin_of(begin - 1));
  EventIndex to = e;
  while (to < last && same(to, e)) ++to;
  return same(to, e) ? last : all_of(to);
}

EventIndex ring_step(const Recording& rec, EventIndex e, StepUnit unit, int direction) {
  const auto last = static_cast<EventIndex>(rec.events.size() - 1);
  switch (unit) {
    case StepUnit::phase:
      return all_ranks_step(rec, e, direction);
    case StepUnit::key_tile:
      return turn_step(rec, e, direction);
    case StepUnit::query_tile:  // one rank alone
      return direction < 0 ? e - std::min<EventIndex>(e, 1) : std::min(e + 1, last);
  }
  return e;
}

// Of query tiles that go abreast: the next step of the same lane, or its next key tile.
EventIndex lane_step(const Recording& rec, EventIndex e, bool of_tile, int direction) {
  const EventId& from = rec.events[e].id;
  const auto lane = rec.lane_of(e);
  const auto last = static_cast<EventIndex>(rec.events.size() - 1);
  for (EventIndex at = e; at != (direction > 0 ? last : 0);) {
    at = direction > 0 ? at + 1 : at - 1;
    const EventId& id = rec.events[at].id;
    if (id.b != from.b || id.h != from.h || rec.lane_of(at) != lane) continue;
    if (!of_tile || (id.j >= 0 && id.j != from.j)) return at;
  }
  return e;
}

}  // namespace

EventIndex step_from(const Recording& rec, EventIndex e, StepUnit unit, int direction) {
  if (rec.events.empty() || direction == 0) return 0;
  const auto last = static_cast<EventIndex>(rec.events.size() - 1);
  if (e > last) e = last;
  const int one = direction > 0 ? 1 : -1;
  if (order_row(rec.order).abreast == Abreast::ranks) return ring_step(rec, e, unit, one);
  if (order_row(rec.order).abreast == Abreast::rows && unit != StepUnit::phase)
    return lane_step(rec, e, unit == StepUnit::key_tile, one);
  switch (unit) {
    case StepUnit::phase:
      if (one < 0) return e == 0 ? 0 : e - 1;
      return e == last ? last : e + 1;
    case StepUnit::key_tile:
      return key_tile_step(rec, e, one);
    case StepUnit::query_tile:
      return query_tile_step(rec, e, one);
  }
  return e;
}

}  // namespace attn
