#include "kernels/orders/backward/sums.h"

#include <algorithm>
#include <vector>

#include "kernels/model/ring.h"
#include "kernels/orders/backward/names.h"

namespace attn::orders::backward {

namespace {

// One rank where there is no ring: it has all tiles, in their sequence.
Ring ring_of_run(const Recording& rec) {
  return ring_of(rec.options, rec.query_tiles(), rec.key_tiles());
}

// A key tile's sum as the last turn left it, with the rank before the tile's own.
VersionId left_by_last_turn(const Recording& rec, const Ring& ring, const EventId& id, Slot sum) {
  const std::int64_t owner = ring.rank_of_chunk(ring.keys().of_tile(id.j)), rank = ring.left_of(owner);
  const auto i = ring.first_of(ring.queries(), rank);
  const auto at = rec.find({id.b, id.h, static_cast<std::int32_t>(i.value_or(0)), id.j, *phase_named("add_sums")});
  return at ? rec.after(*at, sum) : kNoVersion;
}

}  // namespace

VersionId key_sum_before(const Recording& rec, EventIndex e, Slot sum) {
  const EventId& id = rec.events[e].id;
  const BackwardNames& n = backward_names();
  const Ring ring = ring_of_run(rec);
  if (id.i < 0 && ring.ranks > 1) return left_by_last_turn(rec, ring, id, sum);
  const Phase adds = sum == n.dv ? n.value_gradient : n.key_gradient;
  const auto group = static_cast<std::int32_t>(rec.problem.Hq / rec.problem.Hkv);
  const std::int32_t first = id.h / group * group;
  // What ends the tile stands for the whole group and for all its query tiles.
  const bool ends = id.phase != n.value_gradient && id.phase != n.key_gradient;
  const auto tiles = ring.tiles_of(ring.queries(), id.i < 0 ? 0 : ring.rank_of_queries(id.i));
  for (std::int32_t h = ends ? first + group - 1 : id.h; h >= first; --h) {
    const auto end = !ends && h == id.h ? std::ranges::find(tiles, id.i) : tiles.end();
    for (auto i = end; i != tiles.begin();)
      if (const auto at = rec.find({id.b, h, static_cast<std::int32_t>(*--i), id.j, adds})) return rec.after(*at, sum);
  }
  return kNoVersion;
}

VersionId query_sum_before(const Recording& rec, EventIndex e, Slot sum) {
  const EventId& id = rec.events[e].id;
  const Ring ring = ring_of_run(rec);
  const std::int64_t rank = ring.rank_of_queries(id.i);
  for (std::int64_t turn = id.j < 0 ? ring.ranks - 1 : ring.turn_of(rank, id.j); turn >= 0; --turn) {
    const auto tiles = ring.tiles_of(ring.keys(), ring.share(rank, turn));
    const auto here = std::ranges::find(tiles, id.j);
    for (auto j = here; j != tiles.begin();)
      if (const auto at =
              rec.find({id.b, id.h, id.i, static_cast<std::int32_t>(*--j), backward_names().query_gradient}))
        return rec.after(*at, sum);
  }
  return kNoVersion;
}

VersionId scores_before_mask(const Recording& rec, EventIndex e) {
  EventId id = rec.events[e].id;
  id.phase = Phase::scores;
  const auto at = rec.find(id);
  return at ? rec.after(*at, Slot::s) : kNoVersion;
}

}  // namespace attn::orders::backward
