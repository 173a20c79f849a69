// The walk of each order, summed without visiting every tile: in one query tile all key tiles of the same width ask
// for the same bytes, so it is enough to count how many of them the mask skips.
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

// One query tile of one head against all key tiles.
Traffic query_tile_traffic(const Walk& w, std::int64_t b, std::int64_t i) {
  const std::int64_t r0 = i * w.br, r1 = std::min(w.p.Lq, r0 + w.br), rows = r1 - r0;
  const std::int64_t tiles = (w.p.Lk + w.bc - 1) / w.bc;
  const std::int64_t ragged = w.p.Lk - (tiles - 1) * w.bc;  // width of the last tile
  const TileRange visited = visited_tiles(w, b, r0, r1);
  const bool last_visited = visited.contains(tiles - 1);
  const std::int64_t visited_wide = visited.last - visited.first - (last_visited ? 1 : 0);

  Traffic t;
  for (const WalkStep& step : w.order.walk) {
    const std::int64_t count = step.once == Once::query_tile ? 1
                               : step.once == Once::part     ? w.parts
                               : step.once == Once::merge    ? w.parts - 1
                                                             : 0;
    t += times(w.event(step, i, rows, 0), count);
  }
  t += times(tile_traffic(w, i, rows, w.bc, false), visited_wide);
  t += times(tile_traffic(w, i, rows, w.bc, true), tiles - 1 - visited_wide);
  t += tile_traffic(w, i, rows, ragged, !last_visited);
  return t;
}

// What is done once a key tile, where any query tile sees it; some of it where none does, such as zeros for gradients.
Traffic key_tiles_once(const Walk& w, std::int64_t b) {
  Traffic t;
  for (std::int64_t c0 = 0; c0 < w.p.Lk; c0 += w.bc) {
    const std::int64_t c1 = std::min(w.p.Lk, c0 + w.bc);
    const bool hidden = w.p.cover(b, 0, w.p.Lq, c0, c1) == TileCover::skipped;
    for (const WalkStep& step : w.order.walk) {
      if (step.once == Once::key_tile && (!hidden || step.tiles == Tiles::all)) t += w.event(step, 0, 0, c1 - c0);
    }
  }
  return t;
}

}  // namespace

Traffic tile_loads(Order order, std::int32_t score_reads, const Problem& p, const Options& o) {
  const Walk w{order_row(order),
               score_reads,
               p,
               o.br > 0 ? std::min<std::int64_t>(o.br, p.Lq) : 1,
               o.bc > 0 ? std::min<std::int64_t>(o.bc, p.Lk) : p.Lk,
               key_pieces(order_row(order), o)};
  // Heads differ in nothing that counts, batches only in their key lengths.
  const bool once_a_key_tile =
      std::ranges::any_of(w.order.walk, [](const WalkStep& step) { return step.once == Once::key_tile; });
  const bool same_batches = p.mask.key_lengths.empty();
  Traffic head, keys;
  for (std::int64_t b = 0; b < (same_batches ? 1 : p.B); ++b) {
    for (std::int64_t r0 = 0; r0 < p.Lq; r0 += w.br) head += query_tile_traffic(w, b, r0 / w.br);
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
