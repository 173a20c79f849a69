// Keys and queries dealt to ranks that stand in a ring: who holds what, and what a rank sees in which turn. In turn 0 a
// rank has its own keys; in every further one those that its left neighbour had before, while its own m, l and O stay
// where they are (Liu, Zaharia, Abbeel 2023, "Ring Attention with Blockwise Transformers", section 3). What a turn
// makes is merged with what the turns before made (kernels/arithmetic/merge.h). In a backward a rank's dQ stays, while
// the sums of dK and dV go round with their keys and once more, home.
//
// Rows are dealt in whole tiles. In order: a rank has one chunk. Zigzag: of 2 N chunks rank r has number r and number
// 2 N - 1 - r, so that under a causal mask each has one that sees few keys and one that sees many (Brandon et al. 2023,
// "Striped Attention", makes the same point by stripes).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// A problem cut into tiles of queries and keys: what is dealt.
struct Tiling {
  std::int64_t br = 0, bc = 0;  // rows and keys of a tile, not larger than Lq and Lk
  std::int64_t ti = 0, tj = 0;  // how many tiles
};

// `resolved` has a tile.
inline Tiling tiling_of(const Problem& p, const Options& resolved) {
  const std::int64_t br = std::min<std::int64_t>(resolved.br, p.Lq), bc = std::min<std::int64_t>(resolved.bc, p.Lk);
  return {br, bc, (p.Lq - 1) / br + 1, (p.Lk - 1) / bc + 1};
}

namespace known {
inline constexpr std::string_view kDeals[] = {"in_order", "zigzag"};
}

inline constexpr Option kRanks{.name = "ranks",
                               .title = marked("ranks"),
                               .unit = marked("ranks"),
                               .help = marked("Number of ranks in the ring, among which queries and keys are divided. "
                                              "Keys travel, and either m, l and O are merged or dK and dV are summed"),
                               .compiled = false,
                               .swept = known::kCounts};

inline constexpr Option kDeal{
    .name = "deal",
    .title = marked("deal"),
    .help = marked("How tiles are dealt to ranks: one chunk each, or an early and a late chunk each"),
    .choices = known::kDeals,
    .compiled = false};

inline constexpr std::int64_t kMostRanksOfRing = 64;

struct Ring {
  std::int64_t ranks = 1;
  bool zigzag = false;
  std::int64_t query_tiles = 1, key_tiles = 1;  // of a head

  // Chunks that tiles are cut into; one is empty where there are fewer tiles.
  std::int64_t chunks() const { return zigzag ? 2 * ranks : ranks; }
  KeyParts queries() const { return {query_tiles, chunks()}; }
  KeyParts keys() const { return {key_tiles, chunks()}; }
  // A rank's chunks, the earlier first.
  std::int64_t chunks_each() const { return zigzag ? 2 : 1; }
  std::int64_t chunk(std::int64_t rank, std::int64_t n) const { return n == 0 ? rank : chunks() - 1 - rank; }
  std::int64_t rank_of_chunk(std::int64_t chunk) const { return chunk < ranks ? chunk : chunks() - 1 - chunk; }
  std::int64_t rank_of_queries(std::int64_t tile) const { return rank_of_chunk(queries().of_tile(tile)); }
  // Whose keys a rank has in a turn, of which there are as many as ranks.
  std::int64_t share(std::int64_t rank, std::int64_t turn) const { return (rank + ranks - turn % ranks) % ranks; }
  std::int64_t right_of(std::int64_t rank) const { return (rank + 1) % ranks; }
  std::int64_t left_of(std::int64_t rank) const { return (rank + ranks - 1) % ranks; }
  // In which turn a rank has the keys of a tile.
  std::int64_t turn_of(std::int64_t rank, std::int64_t key_tile) const {
    return (rank + ranks - rank_of_chunk(keys().of_tile(key_tile))) % ranks;
  }
  // Tiles that a rank was dealt, the earlier chunk's first; and the how manieth of its rank's a tile is.
  std::vector<std::int64_t> tiles_of(const KeyParts& tiles, std::int64_t rank) const {
    std::vector<std::int64_t> all;
    for (std::int64_t n = 0; n < chunks_each(); ++n)
      for (std::int64_t t = tiles.first(chunk(rank, n)); t < tiles.end(chunk(rank, n)); ++t) all.push_back(t);
    return all;
  }
  std::int64_t nth_of(const KeyParts& tiles, std::int64_t tile) const {
    const std::int64_t own = tiles.of_tile(tile), first = chunk(rank_of_chunk(own), 0);
    return tile - tiles.first(own) + (own == first ? 0 : tiles.end(first) - tiles.first(first));
  }
  // The first tile of the keys that a rank was dealt, or of its queries; none: it was dealt none.
  std::optional<std::int64_t> first_of(const KeyParts& tiles, std::int64_t rank) const {
    for (std::int64_t n = 0; n < chunks_each(); ++n)
      if (const std::int64_t c = chunk(rank, n); tiles.first(c) < tiles.end(c)) return tiles.first(c);
    return std::nullopt;
  }
};

inline std::int64_t ranks_of(const Options& o) {
  return chosen(o, kRanks).value_or(1);
}
inline bool deals_zigzag(const Options& o) {
  return chosen(o, kDeal).value_or(0) != 0;
}
inline Ring ring_of(const Options& o, std::int64_t query_tiles, std::int64_t key_tiles) {
  return {ranks_of(o), deals_zigzag(o), query_tiles, key_tiles};
}

// Bytes over the links, of all heads: of the largest share, and of all sends of a run. K and V of a
// share are sent in every turn but the last.
struct RingBytes {
  std::int64_t largest_share = 0, total = 0;
  std::int64_t largest_sums = 0, total_sums = 0;  // of a backward: dK and dV, sent in every turn, the last one home
};
// Numbers of K and V in a rank's share, of all heads; of dK and dV too.
inline std::int64_t share_numbers(const Problem& p, const Options& o, std::int64_t rank) {
  const std::int64_t bc = std::min<std::int64_t>(o.bc > 0 ? o.bc : p.Lk, p.Lk);
  const Ring ring = ring_of(o, 1, (p.Lk + bc - 1) / bc);
  std::int64_t keys = 0;
  for (std::int64_t n = 0; n < ring.chunks_each(); ++n) {
    const std::int64_t chunk = ring.chunk(rank, n);
    keys += std::min(ring.keys().end(chunk) * bc, p.Lk) - std::min(ring.keys().first(chunk) * bc, p.Lk);
  }
  return keys * p.B * p.Hkv * (p.D + p.Dv);
}
// K and V of a rank's share, and its dK and dV as they are summed.
inline std::int64_t share_bytes(const Problem& p, const Options& o, std::int64_t rank) {
  return share_numbers(p, o, rank) * static_cast<std::int64_t>(size_of(p.dtype));
}
inline std::int64_t sums_bytes(const Problem& p, const Options& o, std::int64_t rank) {
  return share_numbers(p, o, rank) * static_cast<std::int64_t>(size_of(DType::f32));
}
inline RingBytes ring_bytes(const Problem& p, const Options& o) {
  RingBytes sent;
  for (std::int64_t rank = 0; rank < ranks_of(o); ++rank) {
    const std::int64_t share = share_bytes(p, o, rank);
    sent.largest_share = std::max(sent.largest_share, share);
    sent.total += share * (ranks_of(o) - 1);
    if (p.pass == Pass::forward || ranks_of(o) == 1) continue;
    const std::int64_t sums = sums_bytes(p, o, rank);
    sent.largest_sums = std::max(sent.largest_sums, sums);
    sent.total_sums += sums * ranks_of(o);
  }
  return sent;
}

// Into how many pieces an order cuts the keys of a query tile: parts, or turns of a ring.
inline std::int64_t key_pieces(const OrderRow& order, const Options& o) {
  return order.abreast == Abreast::ranks ? ranks_of(o) : splits_of(o);
}

}  // namespace attn
