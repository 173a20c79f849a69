#include "viz/bench/tiles/tile_occupancy_words.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/base/text.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

using Side = std::int32_t Options::*;

// Of the tiles that are larger on this side alone the smallest; of its threads and stages one that fits, where any
// does.
const TriedTile* next_larger(const TuneResult& r, const Options& o, Side side, Side other) {
  const auto rank = [&](const TriedTile& t) {
    const Options& its = t.tile.options;
    return std::tuple(its.*side, t.fate == TileFate::refused, its.threads != o.threads, its.stages != o.stages);
  };
  const TriedTile* next = nullptr;
  for (const TriedTile& t : r.tiles) {
    const Options& its = t.tile.options;
    if (its.*side <= o.*side || its.*other != o.*other) continue;
    if (next == nullptr || rank(t) < rank(*next)) next = &t;
  }
  return next;
}

std::string larger_words(const KernelRow& row, const TriedTile& t) {
  const Options& o = t.tile.options;
  std::string why = t.why;
  while (why.ends_with('.')) why.pop_back();
  if (t.fate == TileFate::refused) return phrase("{} x {} does not fit: {}", o.br, o.bc, why);
  const std::string holds = hold_words(t.tile);
  return holds.empty() ? phrase("{} also fits", tile_words(row, o))
                       : phrase("{} would need {}", tile_words(row, o), holds);
}

}  // namespace

std::string hold_words(const TileCandidate& c) {
  if (c.occupancy.max_warps == 0) return {};
  const std::string shared = format_bytes(static_cast<std::uint64_t>(c.shared_bytes));
  std::string words =
      c.compiled ? plural(c.occupancy.blocks, "{1} of shared memory, {0} block per SM, {2:.3g} % occupancy",
                          "{1} of shared memory, {0} blocks per SM, {2:.3g} % occupancy", shared, c.occupancy.percent())
                 : plural(c.occupancy.blocks, "{1} of shared memory, at most {0} block per SM, {2:.3g} % occupancy",
                          "{1} of shared memory, at most {0} blocks per SM, {2:.3g} % occupancy", shared,
                          c.occupancy.percent());
  if (c.compiled) {
    words += phrase(", {} registers", c.compiled->registers);
    if (c.compiled->spill_bytes > 0)
      words += phrase(", spills {}", bytes_text(static_cast<double>(c.compiled->spill_bytes)));
  }
  return words + (c.compiled ? phrase(", limited by {}", tr_of(c.occupancy.limiter))
                             : phrase(", limited by {} (registers not counted yet)", tr_of(c.occupancy.limiter)));
}

std::string why_tile(const KernelRow& row, const TuneResult& r, std::size_t tile) {
  if (tile >= r.tiles.size()) return {};
  const TriedTile& t = r.tiles[tile];
  const std::string holds = hold_words(t.tile);
  std::string words =
      fmt::format("{}: {}", tile_words(row, t.tile.options),
                  holds.empty() ? tr("on a CPU, the tile's parts of Q, K and V should stay in a core's cache") : holds);
  if (!t.tile.reason.empty()) words += "; " + t.tile.reason;
  const TriedTile* taller = next_larger(r, t.tile.options, &Options::br, &Options::bc);
  const TriedTile* wider = next_larger(r, t.tile.options, &Options::bc, &Options::br);
  if (taller == nullptr && wider == nullptr) return phrase("{}; the kernel has no larger tile.", words);
  for (const auto& [next, side] : {std::pair{taller, "Br"}, {wider, "Bc"}})
    words += next != nullptr ? "; " + larger_words(row, *next) : phrase("; the kernel has no larger {}", side);
  return words + ".";
}

}  // namespace attn
