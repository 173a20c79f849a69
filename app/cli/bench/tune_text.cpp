#include "app/cli/bench/tune_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"

namespace attn::cli {
namespace {

std::string head(const KernelRow& row, const TuneResult& r) {
  return fmt::format("{} on {}, {}\n", row.id, r.device, describe(r.problem));
}

// Shared memory and occupancy of a GPU's tile; empty on a CPU.
std::string resources(const TileCandidate& c) {
  if (c.occupancy.max_warps == 0) return {};
  const std::string blocks = c.compiled
                                 ? plural(c.occupancy.blocks, "{} block per SM", "{} blocks per SM")
                                 : plural(c.occupancy.blocks, "at most {} block per SM", "at most {} blocks per SM");
  std::string words = phrase("{:>7} B shared, {}, {:.1f} % occupancy", c.shared_bytes, blocks, c.occupancy.percent());
  if (c.compiled) {
    words += plural(c.compiled->registers, ", {} register", ", {} registers");
    if (c.compiled->spill_bytes > 0) words += phrase(", spills {} B", c.compiled->spill_bytes);
  }
  return words + fmt::format(" ({})", c.occupancy.limiter);
}

std::string refusals(const KernelRow& row, const TuneResult& r) {
  std::string text;
  for (const TriedTile& t : r.tiles)
    if (t.fate == TileFate::refused) text += fmt::format("  {}: {}\n", tile_words(row, t.tile.options), t.why);
  return text.empty() ? text : phrase("Not tried:\n{}", text);
}

// The fastest of a tile, and how it stands: "*" chosen, "u" usual, "s" spills.
std::string cell(const TuneResult& r, const std::vector<std::size_t>& tiles) {
  const auto time_of = [&](std::size_t n) {
    return r.tiles[n].fate == TileFate::timed ? r.tiles[n].time.median : 1e300;
  };
  const std::size_t best = *std::ranges::min_element(tiles, {}, time_of);
  const TriedTile& t = r.tiles[best];
  const auto has = [&](std::size_t which) { return std::ranges::find(tiles, which) != tiles.end(); };
  const bool any_wrong = std::ranges::any_of(tiles, [&](std::size_t n) { return r.tiles[n].fate == TileFate::wrong; });
  if (t.fate != TileFate::timed)
    return any_wrong ? "wrong"
                     : std::string(t.fate == TileFate::not_tried ? "."
                                   : t.fate == TileFate::failed  ? "failed"
                                                                 : "-");
  std::string marks;
  if (r.decision && has(r.chosen)) marks += '*';
  if (has(r.usual)) marks += 'u';
  if (t.spills()) marks += 's';
  return fmt::format("{:.1f}{}", t.time.median, marks.empty() ? "" : " " + marks);
}

std::string surface(const TuneResult& r) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::size_t>> cells;
  std::set<std::int32_t> rows, columns;
  for (std::size_t n = 0; n < r.tiles.size(); ++n) {
    const Options& o = r.tiles[n].tile.options;
    cells[{o.br, o.bc}].push_back(n);
    rows.insert(o.br);
    columns.insert(o.bc);
  }
  std::string text = fmt::format("{:>8}", "Br \\ Bc");
  for (const std::int32_t bc : columns) text += fmt::format(" {:>13}", bc);
  text += '\n';
  for (const std::int32_t br : rows) {
    text += fmt::format("{:>8}", br);
    for (const std::int32_t bc : columns) {
      const auto at = cells.find({br, bc});
      text += fmt::format(" {:>13}", at == cells.end() ? "" : cell(r, at->second));
    }
    text += '\n';
  }
  return phrase(
      "{}µs, the fastest combination of threads and stages for each tile; * chosen, u usual, s spills, - does not "
      "fit, . not tried\n",
      text);
}

std::string turns(const KernelRow& row, const TuneResult& r) {
  std::vector<std::size_t> sides;
  for (std::size_t n = 0; n < r.tiles.size(); ++n)
    if (r.tiles[n].turns.n > 0) sides.push_back(n);
  if (sides.empty()) return {};
  std::ranges::sort(sides, {}, [&](std::size_t n) { return r.tiles[n].turns.median; });
  std::string text = tr("Timed alternately:\n");
  for (const std::size_t n : sides) {
    const TriedTile& t = r.tiles[n];
    text += phrase("  {:<34} {:>10.1f} µs, 95 % interval of the median {:.1f} to {:.1f}, n = {}, {}{}{}\n",
                   tile_words(row, t.tile.options), t.turns.median, t.turns.ci_low, t.turns.ci_high, t.turns.n,
                   t.verdict, n == r.usual ? tr(", usual") : "", r.decision && n == r.chosen ? tr(", chosen") : "");
    if (const std::string words = resources(t.tile); !words.empty()) text += fmt::format("  {:<34} {}\n", "", words);
  }
  return text;
}

}  // namespace

std::string plan_text(const KernelRow& row, const TuneResult& r) {
  std::string text = head(row, r);
  const auto order = order_to_try(r);
  text += phrase("{} of {} candidates, in this order:\n", order.size(), r.tiles.size());
  for (const std::size_t n : order) {
    const TileCandidate& tile = r.tiles[n].tile;
    text +=
        fmt::format("  {:<34}{}{}\n", tile_words(row, tile.options), resources(tile), tile.usual ? tr(", usual") : "");
    if (tile.usual && !tile.reason.empty()) text += fmt::format("  {:<34} {}\n", "", tile.reason);
  }
  return text + refusals(row, r);
}

std::string result_text(const KernelRow& row, const TuneResult& r) {
  std::string text = head(row, r) + surface(r) + turns(row, r);
  if (r.decision) text += fmt::format("{}. ", name_of(*r.decision));
  text += r.words + "\n";
  if (!r.date.empty()) text += phrase("Stored {} for `--tile tuned`.\n", r.date);
  return text;
}

}  // namespace attn::cli
