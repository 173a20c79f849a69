#include "viz/learn/lesson/quantities.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include "kernels/arithmetic/math.h"
#include "kernels/arithmetic/merge.h"
#include "kernels/base/dtype.h"
#include "kernels/base/text.h"
#include "kernels/gpu/compile/occupancy.h"
#include "kernels/model/ring.h"
#include "kernels/model/traffic.h"

namespace attn {
namespace {

using Given = std::vector<double>;

constexpr double kMostGiven = 1 << 24;  // sizes; bytes of their squares fit 64 bits

std::int64_t whole(double x) {
  return static_cast<std::int64_t>(x);
}

// One head of as many queries as keys, Dv = D.
Problem square(double length, double d, double bytes) {
  Problem p;
  p.Lq = p.Lk = whole(length);
  p.D = p.Dv = whole(d);
  p.dtype = bytes == 2 ? DType::f16 : DType::f32;
  return p;
}
Problem causal_square(double length) {
  Problem p = square(length, 1, 4);
  p.mask.causal = true;
  return p;
}
Options tiles_of(double br, double bc) {
  Options o;
  o.br = static_cast<std::int32_t>(br);
  o.bc = static_cast<std::int32_t>(bc);
  return o;
}
// Sizes are whole numbers from 1 on; an element has two or four bytes.
Result<void> check_sizes(const Given& sizes) {
  for (const double x : sizes)
    if (!(x >= 1 && x <= kMostGiven) || x != std::floor(x))
      return bad_input(phrase("invalid value {}; use an integer from 1 to {}", x, whole(kMostGiven)));
  return ok();
}
Result<void> check_bytes(double bytes) {
  if (bytes != 2 && bytes != 4) return bad_input(phrase("an element has 2 or 4 bytes, not {}", bytes));
  return ok();
}

constexpr std::int32_t kScoreReads = 3;  // of naive: by max, sum and weights

Result<double> naive_bytes(const Given& g) {
  if (auto good = check_sizes(g); !good) return tl::unexpected(good.error());
  if (auto good = check_bytes(g[2]); !good) return tl::unexpected(good.error());
  return static_cast<double>(
      tile_loads(Order::naive, kScoreReads, square(g[0], g[1], g[2]), tiles_of(1, g[0])).total());
}

// Of an order that goes over tiles once.
Result<double> one_pass_bytes(Order order, const Given& g) {
  if (auto good = check_sizes(g); !good) return tl::unexpected(good.error());
  if (auto good = check_bytes(g[4]); !good) return tl::unexpected(good.error());
  return static_cast<double>(tile_loads(order, 0, square(g[0], g[1], g[4]), tiles_of(g[2], g[3])).total());
}

Result<double> chip_bytes(const Given& g) {
  if (auto good = check_sizes(g); !good) return tl::unexpected(good.error());
  if (auto good = check_bytes(g[3]); !good) return tl::unexpected(good.error());
  // The tile is whole: no extent of the problem cuts it.
  const OnChip parts = on_chip_bytes(Order::flash, square(std::max(g[1], g[2]), g[0], g[3]), tiles_of(g[1], g[2]));
  return static_cast<double>(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}));
}

// Tiles of a causal square that the mask treats so.
Result<double> tiles_that_are(TileCover cover, const Given& g) {
  if (auto good = check_sizes(g); !good) return tl::unexpected(good.error());
  const Problem p = causal_square(g[0]);
  const std::int64_t length = whole(g[0]), br = whole(g[1]), bc = whole(g[2]);
  constexpr std::int64_t kMostTiles = 1 << 20;
  if ((length / br + 1) * (length / bc + 1) > kMostTiles) return bad_input(tr("too many tiles"));
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < length; r += br)
    for (std::int64_t c = 0; c < length; c += bc)
      if (p.cover(0, r, std::min(r + br, length), c, std::min(c + bc, length)) == cover) ++count;
  return static_cast<double>(count);
}

// Of an H100: compute capability 9.0.
Result<double> blocks_that_fit(const Given& g) {
  if (!(g[2] >= 0)) return bad_input(tr("shared memory cannot have a negative size"));
  if (auto good = check_sizes({g[0], g[1]}); !good) return tl::unexpected(good.error());
  const auto arch = gpu::limits_of("sm_90");
  if (!arch) return bad_input(tr("unknown architecture"));
  return static_cast<double>(
      gpu::occupancy(*arch, static_cast<std::int32_t>(g[0]), static_cast<std::int32_t>(g[1]), whole(g[2])).blocks);
}

Merged merged(const Given& g) {
  return merge({static_cast<float>(g[0]), static_cast<float>(g[1])},
               {static_cast<float>(g[2]), static_cast<float>(g[3])}, exp_f32);
}

Result<Ring> ring(double ranks, double tiles, bool zigzag) {
  if (auto good = check_sizes({ranks, tiles}); !good) return tl::unexpected(good.error());
  if (ranks > static_cast<double>(kMostRanksOfRing)) return bad_input(phrase("{} ranks are too many", ranks));
  return Ring{whole(ranks), zigzag, whole(tiles), whole(tiles)};
}

// Pairs of tiles of a causal square that a rank computes.
Result<double> ring_pairs(const Given& g) {
  constexpr double kMostTiles = 4096;
  const auto dealt = ring(g[1], g[0], g[3] != 0);
  if (!dealt) return tl::unexpected(dealt.error());
  if (g[0] > kMostTiles) return bad_input(phrase("{} tiles are too many", g[0]));
  if (!(g[2] >= 0 && g[2] < g[1])) return bad_input(phrase("rank {} does not exist", g[2]));
  std::int64_t pairs = 0;
  // A query tile sees its own key tile and those before it.
  for (std::int64_t i = 0; i < dealt->query_tiles; ++i)
    if (dealt->rank_of_queries(i) == whole(g[2])) pairs += i + 1;
  return static_cast<double>(pairs);
}

Result<double> ring_share(const Given& g) {
  const auto dealt = ring(g[0], g[0], false);
  if (!dealt) return tl::unexpected(dealt.error());
  if (!(g[1] >= 0 && g[1] < g[0] && g[2] >= 0)) return bad_input(phrase("rank {} does not exist", g[1]));
  return static_cast<double>(dealt->share(whole(g[1]), whole(g[2])));
}

Result<double> ring_sent(const Given& g) {
  if (auto good = check_sizes(g); !good) return tl::unexpected(good.error());
  if (auto good = check_bytes(g[3]); !good) return tl::unexpected(good.error());
  Options o = tiles_of(1, 1);
  o.further.push_back({std::string(kRanks.name), static_cast<std::int64_t>(g[2])});
  return static_cast<double>(ring_bytes(square(g[0], g[1], g[3]), o).total);
}

constexpr Quantity kQuantities[] = {
    {"naive_bytes", "L, D, bytes", naive_bytes},
    {"flash_bytes", "L, D, Br, Bc, bytes", [](const Given& g) { return one_pass_bytes(Order::flash, g); }},
    {"flash1_bytes", "L, D, Br, Bc, bytes", [](const Given& g) { return one_pass_bytes(Order::flash1, g); }},
    {"chip_bytes", "D, Br, Bc, bytes", chip_bytes},
    {"skipped_tiles", "L, Br, Bc", [](const Given& g) { return tiles_that_are(TileCover::skipped, g); }},
    {"partial_tiles", "L, Br, Bc", [](const Given& g) { return tiles_that_are(TileCover::partial, g); }},
    {"full_tiles", "L, Br, Bc", [](const Given& g) { return tiles_that_are(TileCover::full, g); }},
    {"pairs_seen", "L",
     [](const Given& g) -> Result<double> {
       if (auto good = check_sizes(g); !good) return tl::unexpected(good.error());
       return causal_square(g[0]).visible_pairs();
     }},
    {"blocks_that_fit", "threads, registers, shared", blocks_that_fit},
    {"bf16", "x", [](const Given& g) -> Result<double> { return round_to(DType::bf16, g[0]); }},
    {"f16", "x", [](const Given& g) -> Result<double> { return round_to(DType::f16, g[0]); }},
    {"merged_m", "m, l, m, l", [](const Given& g) -> Result<double> { return merged(g).of_both.m; }},
    {"merged_l", "m, l, m, l", [](const Given& g) -> Result<double> { return merged(g).of_both.l; }},
    {"merge_first", "m, l, m, l", [](const Given& g) -> Result<double> { return merged(g).first; }},
    {"merge_second", "m, l, m, l", [](const Given& g) -> Result<double> { return merged(g).second; }},
    {"ring_pairs", "tiles, ranks, rank, zigzag", ring_pairs},
    {"ring_share", "ranks, rank, turn", ring_share},
    {"ring_sent", "L, D, ranks, bytes", ring_sent},
};

}  // namespace

Result<double> Quantity::of(const std::vector<double>& given) const {
  const auto wanted = static_cast<std::size_t>(std::ranges::count(arguments, ',')) + 1;
  if (given.size() != wanted) return bad_input(phrase("wrong number of arguments; use {}", arguments));
  return read(given);
}

std::span<const Quantity> all_quantities() {
  return kQuantities;
}

const Quantity* find_quantity(std::string_view name) {
  const auto* it = std::ranges::find(kQuantities, name, &Quantity::name);
  return it == std::end(kQuantities) ? nullptr : it;
}

}  // namespace attn
