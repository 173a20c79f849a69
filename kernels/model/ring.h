// Keys and queries dealt to ranks that stand in a ring: who holds what, and what a rank sees in which turn. In turn 0 a
// rank has its own keys; in every further one those that its left neighbour had before, while its own m, l and O stay
// where they are (Liu, Zaharia, Abbeel 2023, "Ring Attention with Blockwise Transformers", section 3). What a turn
// makes is merged with what the turns before made (kernels/arithmetic/merge.h).
//
// Rows are dealt in whole tiles. In order: a rank has one chunk. Zigzag: of 2 N chunks rank r has number r and number
// 2 N - 1 - r, so that under a causal mask each has one that sees few keys and one that sees many (Brandon et al. 2023,
// "Striped Attention", makes the same point by stripes).
#pragma once

#include <cstdint>

#include "kernels/model/options.h"

namespace attn {

namespace known {
inline constexpr std::string_view kDeals[] = {"in_order", "zigzag"};
}

inline constexpr Option kRanks{
    .name = "ranks",
    .title = marked("ranks"),
    .unit = marked("ranks"),
    .help = marked("Ranks of a ring that queries and keys are dealt to; keys travel, and m, l and O are merged"),
    .compiled = false,
    .swept = known::kCounts};

inline constexpr Option kDeal{
    .name = "deal",
    .title = marked("deal"),
    .help = marked("How tiles are dealt to ranks: one chunk each, or an early and a late one"),
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
};

inline std::int64_t ranks_of(const Options& o) {
  return chosen(o, kRanks).value_or(1);
}

}  // namespace attn
