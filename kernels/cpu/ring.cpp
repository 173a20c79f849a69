#include "kernels/cpu/ring.h"

#include <algorithm>
#include <array>

#include "kernels/arithmetic/tile_math.h"

namespace attn::cpu {
namespace {

// Keys of a share, chunk after chunk; then with what stands in memory: the first of all is put there.
void turn_of_tile(const Call& call, const RingTile& of_tile, const Ring& ring, std::int64_t tile, std::int64_t turn,
                  const Team& team, Call::Scratch& s) {
  const Place2d rows = call.rows_of_tile(tile);
  const std::int64_t i = tile % call.at.ti, share = ring.share(ring.rank_of_queries(i), turn);
  std::array<TileRange, 2> ranges;
  const auto keys = std::span(ranges).first(static_cast<std::size_t>(ring.chunks_each()));
  for (std::int64_t n = 0; n < ring.chunks_each(); ++n) {
    const std::int64_t chunk = ring.chunk(share, n);
    keys[static_cast<std::size_t>(n)] = {ring.keys().first(chunk), ring.keys().end(chunk)};
  }
  if (call.o.key_order == KeyOrder::right_to_left) std::ranges::reverse(keys);
  of_tile.keys(call, rows, i, keys, team, s);
  if (ring.ranks == 1) return of_tile.finish(call, rows, i, s);  // nothing to merge with, and no memory kept for it
  if (turn == 0) {
    call.keep_part(rows, 0, s);
  } else {
    const Call::PartRows all = call.part_rows(rows, 0);
    merge_rows(call.o.accumulate, {s.o.data, s.o.ld}, s.m_old, s.l_old, rows.rows, call.p.Dv, all.o, all.m, all.l);
  }
}

void finish_ring_tile(const Call& call, const RingTile& of_tile, std::int64_t tile, Call::Scratch& s) {
  const Place2d rows = call.rows_of_tile(tile);
  call.take_part(rows, 0, s);
  of_tile.finish(call, rows, tile % call.at.ti, s);
}

}  // namespace

Ring ring_of(const Layout& at, const Options& o) {
  return {ranks_of(o), chosen(o, kDeal).value_or(0) != 0, at.ti, at.tj};
}

RingRank::RingRank(const Call& call, RingTile tile, std::int64_t rank)
    : call_(call), tile_(tile), ring_(ring_of(call.at, call.o)), rank_(rank) {}

template <class Work>
void RingRank::for_its_tiles(Team& team, const Work& work) const {
  const KeyParts queries = ring_.queries();
  std::int64_t each = 0;
  for (std::int64_t n = 0; n < ring_.chunks_each(); ++n) {
    const std::int64_t chunk = ring_.chunk(rank_, n);
    each += queries.end(chunk) - queries.first(chunk);
  }
  if (each == 0) return;
  team.run(call_.p.B * call_.p.Hq * each, [&](std::int64_t piece, std::int32_t worker) {
    std::int64_t n = 0, i = piece % each;
    for (std::int64_t count = 0; n + 1 < ring_.chunks_each(); ++n, i -= count) {
      const std::int64_t chunk = ring_.chunk(rank_, n);
      count = queries.end(chunk) - queries.first(chunk);
      if (i < count) break;
    }
    Call::Scratch s = call_.scratch(worker);
    work(piece / each * call_.at.ti + queries.first(ring_.chunk(rank_, n)) + i, s);
  });
}

void RingRank::pack(std::int64_t share, Team& team) const {
  for (std::int64_t n = 0; n < ring_.chunks_each(); ++n) {
    const std::int64_t chunk = ring_.chunk(share, n);
    call_.pack(team, ring_.keys().first(chunk), ring_.keys().end(chunk));
  }
}

void RingRank::turn(std::int64_t turn, Team& team) const {
  for_its_tiles(team,
                [&](std::int64_t tile, Call::Scratch& s) { turn_of_tile(call_, tile_, ring_, tile, turn, team, s); });
}

void RingRank::finish(Team& team) const {
  if (ring_.ranks == 1) return;  // its only turn did
  for_its_tiles(team, [&](std::int64_t tile, Call::Scratch& s) { finish_ring_tile(call_, tile_, tile, s); });
}

void ring_walk(const Call& call, const RingTile& of_tile, Team& team) {
  const Ring ring = ring_of(call.at, call.o);
  // A query tile's turns follow one another, and wait for no other tile's.
  team.run(call.p.B * call.p.Hq * call.at.ti, [&](std::int64_t tile, std::int32_t worker) {
    Call::Scratch s = call.scratch(worker);
    for (std::int64_t turn = 0; turn < ring.ranks; ++turn) turn_of_tile(call, of_tile, ring, tile, turn, team, s);
    finish_ring_tile(call, of_tile, tile, s);
  });
}

}  // namespace attn::cpu
