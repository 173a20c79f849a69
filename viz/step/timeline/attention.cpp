#include "viz/step/timeline/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"
#include "viz/step/timeline/map.h"

namespace attn {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The weights of one row in one key tile: P as recorded, times what later maxima made of it.
struct Part {
  std::int32_t first_key = 0;
  std::span<const float> p, s;
  double m = 0, factor = 1;
};

struct Row {
  std::vector<Part> parts;  // the tiles that are weighed, by key
  double sum = 0;           // of all weights
  std::int32_t weighed = 0;
};

std::int32_t row_extent(const Recording& rec) {
  return std::max(static_cast<std::int32_t>(std::min<std::int64_t>(rec.options.br, rec.problem.Lq)), 1);
}

using Weighed = AttentionRows::Weighed;

// What of the query tile is weighed by now.
std::vector<Weighed> weighed_tiles(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t i) {
  std::vector<Weighed> out;
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) {
    const VersionId p = rec.tile_version(Slot::p, b, h, i, j, e);
    if (p == kNoVersion) continue;
    out.push_back({p, rec.tile_version(Slot::s, b, h, i, j, e), rec.tile_version(Slot::m_new, b, h, i, j, e)});
  }
  return out;
}

Row row_of_weights(const Recording& rec, std::span<const Weighed> weighed, std::int32_t b, std::int32_t row) {
  Row out;
  const bool stored = stores_scores(rec.order);  // P is divided by the whole row's l: no maximum to follow
  double m_now = -kInfinity;
  for (const Weighed& tile : weighed) {
    Part part;
    part.p = row_of(rec, tile.p, row);
    if (part.p.empty()) continue;
    part.first_key = rec.version(tile.p).first_col;
    part.s = row_of(rec, tile.s, row);
    const auto m = row_of(rec, tile.m, row);
    part.m = stored || m.empty() ? 0 : static_cast<double>(m[0]);
    m_now = std::max(m_now, part.m);
    out.parts.push_back(part);
  }
  const KeyRange seen = rec.problem.visible_keys(b, row);
  for (Part& part : out.parts) {
    // Before a maximum there are only zeros.
    if (part.m != m_now && part.m != -kInfinity) part.factor = std::exp(part.m - m_now);
    for (std::size_t c = 0; c < part.p.size(); ++c) {
      out.sum += static_cast<double>(part.p[c]) * part.factor;
      const std::int64_t key = part.first_key + static_cast<std::int64_t>(c);
      out.weighed += key >= seen.first && key < seen.last ? 1 : 0;
    }
  }
  return out;
}

Row row_of_weights(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t row) {
  return row_of_weights(rec, weighed_tiles(rec, e, b, h, row / row_extent(rec)), b, row);
}

// H = -sum a ln a, where a = w / sum and ln w = S - c for a constant c of the row, so H = ln sum + c - sum a S: one
// logarithm a row in place of one a key.
double entropy_bits(const Row& row) {
  double mean = 0, most = 0, score = 0;
  for (const Part& part : row.parts) {
    for (std::size_t c = 0; c < std::min(part.p.size(), part.s.size()); ++c) {
      const double w = static_cast<double>(part.p[c]) * part.factor;
      if (w <= 0) continue;
      mean += w / row.sum * static_cast<double>(part.s[c]);
      if (w > most) most = w, score = part.s[c];
    }
  }
  const double nats = std::log(row.sum) + (score - std::log(most)) - mean;
  return std::max(nats, 0.0) / std::log(2.0);
}

Sharpness sharpness_of(const Recording& rec, const Row& row, std::int32_t b, std::int32_t query) {
  Sharpness out;
  out.keys = row.weighed;
  const KeyRange range = rec.problem.visible_keys(b, query);
  out.whole = row.weighed > 0 && row.weighed >= range.last - range.first;
  if (row.weighed == 0 || !std::isfinite(row.sum) || row.sum <= 0) return out;
  out.bits = entropy_bits(row);
  out.known = std::isfinite(out.bits);
  return out;
}

struct Painter {
  const Recording& rec;
  AttentionMap& map;
  std::int32_t br = 1, bc = 1;

  // What the mask alone says.
  AttentionLook blank(std::int32_t query, std::int32_t key) const {
    if (rec.problem.visible(map.b, query, key)) return AttentionLook::to_come;
    const std::int64_t r0 = query / br * br, c0 = key / bc * bc;
    const TileCover cover = rec.problem.cover(map.b, r0, std::min<std::int64_t>(r0 + br, rec.problem.Lq), c0,
                                              std::min<std::int64_t>(c0 + bc, rec.problem.Lk));
    return cover == TileCover::skipped ? AttentionLook::skipped : AttentionLook::masked;
  }
  // Keys put together: a value wins over what waits, that over what is masked.
  static void merge(AttentionCell& cell, const AttentionCell& key) {
    if (key.look > cell.look) cell.look = key.look;
    cell.weight = std::max(cell.weight, key.weight);
  }
  void paint_row(std::int32_t r, const Row& row) {
    const std::int32_t query = map.query_of(r);
    const KeyRange seen = rec.problem.visible_keys(map.b, query);
    AttentionCell* cells = map.cells.data() + static_cast<std::size_t>(r) * static_cast<std::size_t>(map.cols);
    for (std::int32_t c = 0; c < map.cols; ++c) {
      const std::int32_t first = map.first_key_of(c), end = std::max(first + 1, map.first_key_of(c + 1));
      const bool sees = std::max<std::int64_t>(first, seen.first) < std::min<std::int64_t>(end, seen.last);
      cells[c].look = sees ? AttentionLook::to_come : std::max(blank(query, first), blank(query, end - 1));
    }
    const bool finite = std::isfinite(row.sum);
    for (const Part& part : row.parts) {
      for (std::size_t n = 0; n < part.p.size(); ++n) {
        const std::int32_t key = part.first_key + static_cast<std::int32_t>(n);
        if (key < seen.first || key >= seen.last) continue;
        AttentionCell one{finite ? AttentionLook::value : AttentionLook::not_finite, 0, -1};
        if (finite && row.sum > 0)
          one.weight = static_cast<float>(static_cast<double>(part.p[n]) * part.factor / row.sum);
        // The cell whose keys hold this one.
        auto c = static_cast<std::int32_t>(static_cast<std::int64_t>(key) * map.cols / map.keys);
        while (c + 1 < map.cols && map.first_key_of(c + 1) <= key) ++c;
        merge(cells[c], one);
      }
    }
  }
};

TextRuns entropy_words(const Sharpness& f, const StepPlace& at, const Recording& rec, std::int32_t query) {
  using enum TensorColour;
  const KeyRange range = rec.problem.visible_keys(at.b, query);
  const auto sees = static_cast<std::int32_t>(std::max<std::int64_t>(range.last - range.first, 0));
  const std::string_view named = row_word(rec, at.b, query);
  const std::string row = named.empty() ? phrase("Row {}", query) : phrase("Row {} “{}”", query, named);
  if (sees == 0) return {word(phrase("{}: the mask hides every key.", row))};
  if (f.keys == 0) return {word(phrase("{}: no weight yet.", row))};
  if (!f.known) return {word(phrase("{}: the sum of its weights is not a number, so it has no entropy.", row))};
  const std::string of = f.whole ? phrase("its {} keys", sees) : phrase("{} keys", f.keys);
  const std::string rest = f.whole ? "." : phrase("; it sees {}.", sees);
  const TextRuns bits{number(significant_text(f.bits, 3), p)};
  const double alike = std::exp2(f.bits);
  constexpr double kOne = 1.005;  // reads as 1.00
  return woven(alike < kOne ? phrase("{}: {} bits, since one of {} has all the weight{}", row, place(0), of, rest)
                            : phrase("{}: {} bits, as if {} of {} had equal weights{}", row, place(0),
                                     significant_text(alike, 3), of, rest),
               bits);
}

}  // namespace

void AttentionRows::begin(const Recording& rec, std::int32_t b, std::int32_t h, std::int32_t rows, std::int32_t cols) {
  map_ = {};
  tiles_.clear();
  of_ = &rec;
  map_.b = b;
  map_.h = h;
  map_.queries = static_cast<std::int32_t>(rec.problem.Lq);
  map_.keys = static_cast<std::int32_t>(rec.problem.Lk);
  map_.rows = rows;
  map_.cols = cols;
  map_.cells.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  map_.sharpness.resize(static_cast<std::size_t>(rows));
  tiles_.resize(static_cast<std::size_t>(rec.query_tiles()));
  const std::int32_t br = row_extent(rec);
  for (std::int32_t r = rows - 1; r >= 0; --r) {
    QueryTile& tile = tiles_[static_cast<std::size_t>(map_.query_of(r) / br)];
    if (tile.end == 0) tile.end = r + 1;
    tile.first = r;
  }
}

void AttentionRows::make(const Recording& rec, QueryTile& tile, const std::vector<Weighed>& weighed) {
  const auto cols = static_cast<std::ptrdiff_t>(map_.cols);
  const auto cells = map_.cells.begin() + tile.first * cols;
  const auto sharpness = map_.sharpness.begin() + tile.first;
  const auto cell_count = (tile.end - tile.first) * cols;
  for (const Made* kept : {&tile.none, &tile.most}) {
    if (!kept->any || kept->of != weighed) continue;
    std::copy(kept->cells.begin(), kept->cells.end(), cells);
    std::copy(kept->sharpness.begin(), kept->sharpness.end(), sharpness);
    return;
  }
  Painter painter{rec, map_, row_extent(rec),
                  std::max(static_cast<std::int32_t>(std::min<std::int64_t>(rec.options.bc, rec.problem.Lk)), 1)};
  std::fill(cells, cells + cell_count, AttentionCell{});
  for (std::int32_t r = tile.first; r < tile.end; ++r) {
    const Row row = row_of_weights(rec, weighed, map_.b, map_.query_of(r));
    painter.paint_row(r, row);
    map_.sharpness[static_cast<std::size_t>(r)] = sharpness_of(rec, row, map_.b, map_.query_of(r));
  }
  for (auto cell = cells; cell != cells + cell_count; ++cell) cell->shade = weight_shade(cell->weight);
  Made& kept = weighed.empty() ? tile.none : tile.most;
  if (kept.any && kept.of.size() >= weighed.size()) return;
  kept = {true, weighed, {cells, cells + cell_count}, {sharpness, sharpness + (tile.end - tile.first)}};
}

const AttentionMap& AttentionRows::at(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h,
                                      std::int32_t max_rows, std::int32_t max_cols) {
  const std::int32_t rows = std::clamp(static_cast<std::int32_t>(rec.problem.Lq), 1, std::max(max_rows, 1));
  const std::int32_t cols = std::clamp(static_cast<std::int32_t>(rec.problem.Lk), 1, std::max(max_cols, 1));
  if (of_ != &rec || map_.b != b || map_.h != h || map_.rows != rows || map_.cols != cols) begin(rec, b, h, rows, cols);
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    QueryTile& tile = tiles_[i];
    if (tile.first == tile.end) continue;  // no row of it is drawn
    std::vector<Weighed> weighed = weighed_tiles(rec, e, b, h, static_cast<std::int32_t>(i));
    if (tile.any && tile.shown == weighed) continue;
    make(rec, tile, weighed);
    tile.any = true;
    tile.shown = std::move(weighed);
  }
  return map_;
}

AttentionMap attention_map(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t max_rows,
                           std::int32_t max_cols) {
  return AttentionRows().at(rec, e, b, h, max_rows, max_cols);
}

std::vector<float> shares_of_row(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t row) {
  std::vector<float> shares(static_cast<std::size_t>(rec.problem.Lk), std::numeric_limits<float>::quiet_NaN());
  const Row weights = row_of_weights(rec, e, b, h, row);
  for (const Part& part : weights.parts) {
    for (std::size_t c = 0; c < part.p.size(); ++c) {
      const std::int64_t key = part.first_key + static_cast<std::int64_t>(c);
      if (rec.problem.visible(b, row, key) && weights.sum > 0)
        shares[static_cast<std::size_t>(key)] =
            static_cast<float>(static_cast<double>(part.p[c]) * part.factor / weights.sum);
    }
  }
  return shares;
}

Sharpness sharpness_of_row(const Recording& rec, EventIndex e, std::int32_t b, std::int32_t h, std::int32_t row) {
  return sharpness_of(rec, row_of_weights(rec, e, b, h, row), b, row);
}

float weight_shade(float weight) {
  if (!(weight > 0)) return -1;
  const float share = 1 - std::log10(weight) / static_cast<float>(kMinWeightDecade);
  return std::clamp(2 * share - 1, -1.0F, 1.0F);
}

AttentionScene attention_scene(const Recording& rec, const StepPlace& at, std::int32_t max_rows,
                               std::int32_t max_cols) {
  std::vector<AttentionRows> maps;
  return attention_scene(rec, at, max_rows, max_cols, maps);
}

AttentionScene attention_scene(const Recording& rec, const StepPlace& at, std::int32_t max_rows, std::int32_t max_cols,
                               std::vector<AttentionRows>& maps) {
  AttentionScene scene;
  const Problem& p = rec.problem;
  const std::int64_t heads = p.B * p.Hq > 1 ? p.B * p.Hq : 0;
  maps.resize(static_cast<std::size_t>(heads + 1));
  scene.map = maps.front().at(rec, at.event, at.b, at.h, max_rows, max_cols);
  for (std::int64_t n = 0; n < heads; ++n)
    scene.heads.push_back(maps[static_cast<std::size_t>(n + 1)].at(
        rec, at.event, static_cast<std::int32_t>(n / p.Hq), static_cast<std::int32_t>(n % p.Hq), kSmallMap, kSmallMap));
  scene.followed = sharpness_of_row(rec, at.event, at.b, at.h, at.row);
  std::int64_t most = 2;
  for (std::int64_t r = 0; r < p.Lq; ++r) {
    const KeyRange range = p.visible_keys(at.b, r);
    most = std::max(most, range.last - range.first);
  }
  scene.most_bits = std::log2(static_cast<double>(most));
  const MapScene tiles = map_scene(rec, at);
  std::string count;
  for (const std::string& one : tiles.words) count += (count.empty() ? "" : ", ") + one;
  scene.words = {
      entropy_words(scene.followed, at, rec, at.row),
      woven(phrase("{} over the keys so far, log scale. An unfinished row shows the softmax over the keys it has seen.",
                   place(0)),
            {letter("P", TensorColour::p)}),
      {word(count + ".")}};
  return scene;
}

TextRuns sharpness_words(const Recording& rec, const StepPlace& at, std::int32_t row) {
  return entropy_words(sharpness_of_row(rec, at.event, at.b, at.h, row), at, rec, row);
}

std::string attention_words(const Recording& rec, const StepPlace& at, std::int32_t row, std::int32_t key) {
  const std::string_view asks = row_word(rec, at.b, row), asked = key_word(rec, at.b, key);
  const std::string place = asks.empty() || asked.empty() ? phrase("row {}, key {}", row, key)
                                                          : phrase("row {} “{}”, key {} “{}”", row, asks, key, asked);
  AttentionMap head;
  head.b = at.b;
  const Painter painter{rec, head, std::max(at.br, 1), std::max(at.bc, 1)};
  switch (painter.blank(row, key)) {
    case AttentionLook::skipped:
      return phrase("{}: it is in a tile that the mask skips", place);
    case AttentionLook::masked:
      return phrase("{}: masked", place);
    default:
      break;
  }
  const Row weights = row_of_weights(rec, at.event, at.b, at.h, row);
  for (const Part& part : weights.parts) {
    const std::int32_t c = key - part.first_key;
    if (c < 0 || c >= static_cast<std::int32_t>(part.p.size())) continue;
    if (!std::isfinite(weights.sum)) return phrase("{}: the sum of the row's weights is not a number", place);
    const double share = weights.sum > 0 ? part.p[static_cast<std::size_t>(c)] * part.factor / weights.sum : 0;
    const KeyRange range = rec.problem.visible_keys(at.b, row);
    const bool finished = weights.weighed >= range.last - range.first;
    return finished ? phrase("{}: {} of the row's weight", place, significant_text(share, 4))
                    : phrase("{}: {} of the row's weight so far", place, significant_text(share, 4));
  }
  return phrase("{}: not computed yet", place);
}

}  // namespace attn
