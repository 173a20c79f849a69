// The walk of each order, summed without visiting every tile: tiles of the same size ask for the same bytes, but for
// the first query tile (traffic.h), so it is enough to count how many of them the mask skips.
#include <algorithm>

#include "kernels/model/kernel.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/ring.h"
#include "kernels/model/traffic.h"

namespace attn {
namespace {

struct Walk {
  const OrderRow& order;
  std::int32_t score_reads;
  const Problem& p;
  std::int64_t br, bc, parts;
  Ring ring;

  Traffic event(const WalkStep& step, std::int64_t i, std::int64_t rows, std::int64_t cols) const {
    const OrderPhase* phase = order.phase(step.phase);
    if (phase == nullptr || phase->bytes == nullptr) return {};
    return phase->bytes({p, tile_bytes(p, rows, cols), step.pass, i, score_reads});
  }
};

// One tile (i, j), all its passes. A tile without a bias has no bytes to mask it by, so each counts as masked.
Traffic tile_traffic(const Walk& w, std::int64_t i, std::int64_t rows, std::int64_t cols, bool hidden) {
  hidden = hidden && w.order.skips_hidden;
  Traffic t;
  for (const WalkStep& step : w.order.walk) {
    if (step.once != Once::tile) continue;
    if (step.tiles == Tiles::all || hidden == (step.tiles == Tiles::hidden)) t += w.event(step, i, rows, cols);
  }
  return t;
}

Traffic times(Traffic t, std::int64_t factor) {
  for (std::uint64_t& bytes : t.read) bytes *= static_cast<std::uint64_t>(factor);
  for (std::uint64_t& bytes : t.written) bytes *= static_cast<std::uint64_t>(factor);
  return t;
}

// Key tiles [first, last) of the rows [r0, r1) that are not skipped: no gap lies between them (Problem::cover).
struct TileRange {
  std::int64_t first, last;
  bool contains(std::int64_t j) const { return j >= first && j < last; }
};

TileRange visited_tiles(const Walk& w, std::int64_t b, std::int64_t r0, std::int64_t r1) {
  const std::int64_t tiles = (w.p.Lk + w.bc - 1) / w.bc;
  const auto seen = [&](std::int64_t first, std::int64_t last) {
    return w.p.cover(b, r0, r1, first * w.bc, std::min(w.p.Lk, last * w.bc)) != TileCover::skipped;
  };
  if (!seen(0, tiles)) return {0, 0};
  // Smallest `last` whose tiles before it are seen, then the largest `first` whose tiles from it on are.
  std::int64_t low = 0, high = tiles;
  while (high - low > 1) {
    const std::int64_t mid = low + (high - low) / 2;
    (seen(0, mid) ? high : low) = mid;
  }
  const std::int64_t first = high - 1;
  low = first;
  high = tiles;
  while (high - low > 1) {
    const std::int64_t mid = low + (high - low) / 2;
    (seen(mid, tiles) ? low : high) = mid;
  }
  return {first, low + 1};
}

// Query tiles [first, last) of one head, which have the same number of rows, against all key tiles.
struct QueryTiles {
  std::int64_t first, last, rows;
  std::int64_t count() const { return last - first; }
};

// How often a key tile is not skipped: those of full width, and the last, which may be narrower.
struct Visits {
  std::int64_t wide = 0, last = 0;
};

Visits visits_of(const Walk& w, std::int64_t b, const QueryTiles& q, std::int64_t tiles) {
  const std::int64_t r0 = q.first * w.br, r1 = r0 + (q.count() - 1) * w.br + q.rows;
  if (!w.order.skips_hidden || w.p.cover(b, r0, r1, 0, w.p.Lk) == TileCover::full)
    return {q.count() * (tiles - 1), q.count()};
  Visits v;
  for (std::int64_t i = q.first; i < q.last; ++i) {
    const TileRange visited = visited_tiles(w, b, i * w.br, i * w.br + q.rows);
    const std::int64_t last = visited.contains(tiles - 1) ? 1 : 0;
    v.last += last;
    v.wide += visited.last - visited.first - last;
  }
  return v;
}

Traffic query_tiles_traffic(const Walk& w, std::int64_t b, const QueryTiles& q) {
  const std::int64_t tiles = (w.p.Lk + w.bc - 1) / w.bc;
  const std::int64_t ragged = w.p.Lk - (tiles - 1) * w.bc;  // width of the last tile
  const Visits visits = visits_of(w, b, q, tiles);
  Traffic t;
  for (const WalkStep& step : w.order.walk) {
    const std::int64_t count = step.once == Once::query_tile ? 1
                               : w.order.keys_outside        ? 0
                               : step.once == Once::part     ? w.parts
                               : step.once == Once::merge    ? w.parts - 1
                                                             : 0;
    t += times(w.event(step, q.first, q.rows, 0), count * q.count());
  }
  t += times(tile_traffic(w, q.first, q.rows, w.bc, false), visits.wide);
  t += times(tile_traffic(w, q.first, q.rows, w.bc, true), q.count() * (tiles - 1) - visits.wide);
  t += times(tile_traffic(w, q.first, q.rows, ragged, false), visits.last);
  t += times(tile_traffic(w, q.first, q.rows, ragged, true), q.count() - visits.last);
  return t;
}

// All query tiles of one head: the first, the others, and the last where it has fewer rows.
Traffic head_traffic(const Walk& w, std::int64_t b) {
  const std::int64_t tiles = (w.p.Lq + w.br - 1) / w.br, ragged = w.p.Lq - (tiles - 1) * w.br;
  if (tiles == 1) return query_tiles_traffic(w, b, {0, 1, ragged});
  Traffic t = query_tiles_traffic(w, b, {0, 1, w.br});
  if (tiles > 2) t += query_tiles_traffic(w, b, {1, tiles - 1, w.br});
  t += query_tiles_traffic(w, b, {tiles - 1, tiles, ragged});
  return t;
}

// Whose queries see a key tile: how many ranks.
std::int64_t ranks_that_see(const Walk& w, std::int64_t b, std::int64_t j) {
  const auto sees = [&](std::int64_t chunk) {
    const std::int64_t r0 = w.ring.queries().first(chunk) * w.br,
                       r1 = std::min(w.ring.queries().end(chunk) * w.br, w.p.Lq);
    return r0 < r1 && w.p.cover(b, r0, r1, j * w.bc, std::min(w.p.Lk, (j + 1) * w.bc)) != TileCover::skipped;
  };
  std::int64_t count = 0;
  for (std::int64_t rank = 0; rank < w.ring.ranks; ++rank)
    count += sees(w.ring.chunk(rank, 0)) || (w.ring.chunks_each() > 1 && sees(w.ring.chunk(rank, 1))) ? 1 : 0;
  return count;
}

// What is done once a key tile, or once for each rank that has it in turn, where any query tile sees it; some of it
// where none does, such as zeros for gradients.
Traffic key_tiles_once(const Walk& w, std::int64_t b) {
  const std::int64_t tiles = (w.p.Lk + w.bc - 1) / w.bc, ragged = w.p.Lk - (tiles - 1) * w.bc;
  std::int64_t seen_wide = 0, loads_wide = 0, seen_last = 0, loads_last = 0;
  for (std::int64_t j = 0; j < tiles; ++j) {
    const std::int64_t ranks = ranks_that_see(w, b, j), seen = ranks > 0 ? 1 : 0;
    (j + 1 < tiles ? seen_wide : seen_last) += seen;
    (j + 1 < tiles ? loads_wide : loads_last) += ranks;
  }
  // Of so many tiles: seen by any, and by each rank.
  const auto count = [&](const WalkStep& step, std::int64_t all, std::int64_t seen, std::int64_t loads) {
    if (step.once == Once::key_tile) return step.tiles == Tiles::all ? all : seen;
    if (step.once == Once::part && w.order.keys_outside) return loads;
    return step.once == Once::merge && w.order.keys_outside ? all * (w.parts - 1) : 0;
  };
  Traffic t;
  for (const WalkStep& step : w.order.walk) {
    t += times(w.event(step, 0, 0, w.bc), count(step, tiles - 1, seen_wide, loads_wide));
    t += times(w.event(step, 0, 0, ragged), count(step, 1, seen_last, loads_last));
  }
  return t;
}

}  // namespace

Traffic tile_loads(Order order, std::int32_t score_reads, const Problem& p, const Options& o) {
  if (p.Lq < 1 || p.Lk < 1) return {};
  const OrderRow& row = order_row(order);
  const std::int64_t br = o.br > 0 ? std::min<std::int64_t>(o.br, p.Lq) : 1,
                     bc = o.bc > 0 ? std::min<std::int64_t>(o.bc, p.Lk) : p.Lk;
  Ring ring = ring_of(o, (p.Lq + br - 1) / br, (p.Lk + bc - 1) / bc);
  if (row.abreast != Abreast::ranks) ring.ranks = 1;
  const Walk w{row, score_reads, p, br, bc, key_pieces(row, o), ring};
  // Heads differ in nothing that counts, batches only in their key lengths.
  const bool once_a_key_tile =
      std::ranges::any_of(w.order.walk, [](const WalkStep& step) { return step.once == Once::key_tile; });
  const bool same_batches = p.mask.key_lengths.empty();
  Traffic head, keys;
  for (std::int64_t b = 0; b < (same_batches ? 1 : p.B); ++b) {
    head += head_traffic(w, b);
    if (once_a_key_tile) keys += key_tiles_once(w, b);
  }
  const std::int64_t batches = same_batches ? p.B : 1;
  Traffic all = times(head, batches * p.Hq);
  all += times(keys, batches * (w.order.heads_share_keys ? p.Hkv : p.Hq));
  return all;
}

Traffic tile_loads(const KernelRow& row, const Problem& p, const Options& o) {
  return tile_loads(order_of(row, o), row.score_reads, p, o);
}

}  // namespace attn
