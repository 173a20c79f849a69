#include "viz/step/charts/row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/options.h"
#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"
#include "viz/step/facts/abreast.h"

namespace attn {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// The value of a version in the followed row; -inf where the version does not cover it.
std::optional<float> at_row(const Recording& rec, VersionId id, std::int32_t row, std::int32_t col) {
  if (id == kNoVersion) return std::nullopt;
  const Version& v = rec.version(id);
  const std::int32_t r = row - v.first_row, c = col - v.first_col;
  if (r < 0 || r >= v.rows || c < 0 || c >= v.cols) return std::nullopt;
  return rec.values(id)[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)];
}

// m and l of a row, or of a part of its keys, as weights are measured against them.
struct Standing {
  std::optional<float> m, m_old, l;
  bool rescaled = false;  // l is still to be: times alpha
  bool ghosts = false;    // m has just risen
};

struct RowBuilder {
  const Recording& rec;
  const StepPlace& at;
  RowChartScene out;
  std::int32_t i = 0;
  KeyParts parts{1, 1};
  std::vector<Standing> standing = {};  // by part; one where the keys are not split

  std::size_t part_of(std::size_t key) const {
    if (parts.parts == 1 || out.merged) return 0;
    return static_cast<std::size_t>(parts.of_tile(static_cast<std::int64_t>(key) / at.bc));
  }
  Standing standing_at(EventIndex e) const {
    const bool stored = stores_scores(rec.order);
    Standing s;
    s.m_old = live_value(rec, e, Slot::m_old, at.row, 0);
    const auto m_new = live_value(rec, e, Slot::m_new, at.row, 0);
    s.rescaled = rec.after(e, Slot::alpha) != kNoVersion;
    s.m = s.rescaled || stored || !s.m_old ? (m_new ? m_new : s.m_old) : s.m_old;
    s.l = live_value(rec, e, Slot::l_new, at.row, 0);
    s.ghosts = rec.events[e].id.phase == Phase::rescale && s.m_old && s.m && *s.m_old != *s.m;
    return s;
  }
  // The step that makes the merged row's l, where the run has come to it.
  std::optional<EventIndex> merged_at() const {
    const auto end = rec.find({at.b, at.h, i, -1, Phase::normalise});
    for (EventIndex e = end.value_or(0); e-- > 0;) {
      const VersionId l = rec.after(e, Slot::l_new);
      if (l == kNoVersion || rec.version(l).made_by != e) continue;
      return e <= at.event ? std::optional(e) : std::nullopt;
    }
    return std::nullopt;
  }
  // Each part as it stands after the last step of its own.
  void add_standing() {
    if (parts.parts == 1) return standing.push_back(standing_at(at.event));
    if (const auto e = merged_at()) {
      standing.push_back(standing_at(*e));
      const Standing& s = standing.front();
      RowChartTile all{.keys = static_cast<std::int32_t>(rec.problem.Lk)};
      if (s.m) all.has_m = true, all.m = *s.m;
      if (s.l) all.has_l = true, all.l = *s.l;
      out.merged = all;
      return;
    }
    for (std::int64_t part = 0; part < parts.parts; ++part) {
      const auto e = last_abreast(rec, at.event, part);
      standing.push_back(e ? standing_at(*e) : Standing{});
      Standing& s = standing.back();
      if (e && !s.l) s.l = live_value(rec, *e, Slot::l_old, at.row, 0);
    }
  }

  VersionId version(Slot slot, std::int32_t j) const { return rec.tile_version(slot, at.b, at.h, i, j, at.event); }

  void add_tile(std::int32_t j) {
    RowChartTile tile;
    tile.first_key = j * at.bc;
    tile.keys = static_cast<std::int32_t>(std::min<std::int64_t>(at.bc, rec.problem.Lk - tile.first_key));
    tile.live = j == at.j && (parts.parts == 1 || rec.lane_of(at.event));
    tile.starts_part = parts.parts > 1 && j == parts.first(parts.of_tile(j));
    tile.skipped = rec.problem.cover(at.b, at.first_row, at.first_row + at.rows, tile.first_key,
                                     tile.first_key + tile.keys) == TileCover::skipped;
    if (const auto m = at_row(rec, version(Slot::m_new, j), at.row, 0)) tile.has_m = true, tile.m = *m;
    if (const auto l = at_row(rec, version(Slot::l_new, j), at.row, 0)) tile.has_l = true, tile.l = *l;
    const VersionId s = version(Slot::s, j);
    for (std::int32_t c = 0; c < tile.keys; ++c) {
      RowChartKey key;
      const std::int32_t k = tile.first_key + c;
      key.word = key_word(rec, at.b, k);
      key.masked = !rec.problem.visible(at.b, at.row, k);
      if (const auto score = at_row(rec, s, at.row, k)) {
        key.scored = true;
        key.score = *score;
        // A kernel that is wrong may let a hidden key through.
        if (rec.version(s).holds.masked && std::isfinite(*score)) key.masked = false;
      }
      out.keys.push_back(key);
    }
    out.tiles.push_back(tile);
  }
  // The maximum that the weights of this moment are measured against, and the one before the rescaling.
  void add_weights() {
    const bool stored = stores_scores(rec.order);
    if (!order_row(rec.order).has(Phase::max)) return add_final_weights();
    for (std::size_t n = 0; n < out.keys.size(); ++n) {
      RowChartKey& key = out.keys[n];
      const auto k = static_cast<std::int32_t>(n);
      if (!key.scored || key.masked) continue;
      const auto& [m, m_old, l, rescaled, ghosts] = standing[part_of(n)];
      const auto recorded = at_row(rec, version(Slot::p, k / at.bc), at.row, k);
      if (!m || !recorded) continue;
      key.weighed = true;
      key.weight = key.score == kMinusInfinity ? 0 : std::exp(static_cast<double>(key.score) - *m);
      if (stored && l && *l > 0) key.weight /= *l;
      // What overflowed in the kernel is not mended here by fp64.
      if (!std::isfinite(*recorded)) key.weight = static_cast<double>(*recorded);
      if (ghosts) key.ghost = std::exp(static_cast<double>(key.score) - *m_old);
      out.any_weight = true;
    }
    out.final_weights = stored;
    add_shares();
  }
  // Weights that need no maximum of their own, LSE being known: final as they are.
  void add_final_weights() {
    for (std::size_t n = 0; n < out.keys.size(); ++n) {
      RowChartKey& key = out.keys[n];
      const auto k = static_cast<std::int32_t>(n);
      const auto recorded = at_row(rec, version(Slot::p, k / at.bc), at.row, k);
      if (!recorded || key.masked) continue;
      key.weighed = out.any_weight = true;
      key.weight = key.share = static_cast<double>(*recorded);
    }
    out.final_weights = true;
    out.statistics = false;
    if (out.any_weight) out.max_weight = 0;  // the largest is far below 1
  }
  void add_shares() {
    std::vector<double> sums(standing.size(), 0);
    for (std::size_t n = 0; n < out.keys.size(); ++n) sums[part_of(n)] += out.keys[n].weighed ? out.keys[n].weight : 0;
    if (stores_scores(rec.order)) sums = {1};  // its weights are divided by the whole row's l already
    for (std::size_t n = 0; n < out.keys.size(); ++n) {
      const double sum = sums[part_of(n)];
      if (out.keys[n].weighed && sum > 0 && std::isfinite(sum)) out.keys[n].share = out.keys[n].weight / sum;
    }
  }
  // Why no weight stands in the chart.
  void add_reason() {
    if (out.any_weight) return;
    const bool none = std::all_of(out.keys.begin(), out.keys.end(), [](const RowChartKey& k) { return k.masked; });
    const Event& now = rec.events[at.event];
    if (none)
      out.no_weight = tr("this row sees no key, so it has no weights");
    else if (!stores_scores(rec.order) || !out.letters)
      out.no_weight = tr("no weight yet");
    else if (now.pass == 0)
      out.no_weight = tr("weights come in pass 2, because they wait for the whole row of scores");
    else
      out.no_weight = tr("weights wait for m and ℓ of the whole row");
  }
  void add_range() {
    float min = std::numeric_limits<float>::max(), max = -min;
    const auto take = [&](float x) {
      if (!std::isfinite(x)) return;
      min = std::min(min, x);
      max = std::max(max, x);
      out.any_score = true;
    };
    for (const RowChartKey& key : out.keys) {
      if (key.scored && !key.masked) take(key.score);
      if (std::isfinite(key.weight)) out.max_weight = std::max({out.max_weight, key.weight, key.ghost});
    }
    for (const RowChartTile& tile : out.tiles) {
      if (tile.has_m) take(tile.m);
    }
    out.min = min;
    out.max = max;
    const bool scored =
        std::any_of(out.keys.begin(), out.keys.end(), [](const RowChartKey& key) { return key.scored && !key.masked; });
    if (!out.any_score) out.no_score = scored ? tr("no finite score") : tr("no score yet");
    out.maximum = live_value(rec, at.event, Slot::m_new, at.row, 0);
    if (parts.parts > 1) out.maximum = out.merged ? standing.front().m : std::nullopt;
  }
  // Of each part its own sum, as if there were no others.
  void add_part_notes(bool asks) {
    using enum TensorColour;
    constexpr std::int64_t kMost = 4;
    for (std::size_t n = 0; parts.parts <= kMost && n < standing.size(); ++n) {
      const Standing& s = standing[n];
      if (s.l && !(asks && s.rescaled))
        out.notes.push_back(
            woven(phrase("part {}: {} = {}", n + 1, place(0), place(1)), {letter("ℓ", l), number(*s.l, l)}));
    }
    if (parts.parts > kMost)
      out.notes.push_back(woven(phrase("{} parts, each with its own {} and {}", parts.parts, place(0), place(1)),
                                {letter("m", m), letter("ℓ", l)}));
  }
  void add_notes(bool asks) {
    using enum TensorColour;
    const auto l_old = live_value(rec, at.event, Slot::l_old, at.row, 0),
               l_new = live_value(rec, at.event, Slot::l_new, at.row, 0);
    const auto a = live_value(rec, at.event, Slot::alpha, at.row, 0);
    if (parts.parts > 1 && !out.merged) return add_part_notes(asks);
    if (out.merged && out.merged->has_l) {
      out.notes.push_back(
          woven(phrase("their sum {} = {}", place(0), place(1)), {letter("ℓ", l), number(out.merged->l, l)}));
      return;
    }
    if (!order_row(rec.order).has(Phase::max)) {
      out.notes.push_back(woven(phrase("{} and {} of the row are in {}", place(0), place(1), place(2)),
                                {letter("m", m), letter("ℓ", l), letter("LSE", l)}));
      return;
    }
    if (stores_scores(rec.order)) {
      if (l_new)
        out.notes.push_back(
            woven(phrase("divided by {} = {}", place(0), place(1)), {letter("ℓ", l), number(*l_new, l)}));
      return;
    }
    if (l_new) {
      out.notes.push_back(woven(phrase("their sum {} = {}", place(0), place(1)), {letter("ℓ", l), number(*l_new, l)}));
    } else if (l_old && a && !asks) {
      out.notes.push_back({number(*a, alpha), word(" × "), number(*l_old, l), word(" = "),
                           number(static_cast<double>(*a) * *l_old, l)});
      out.notes.push_back(woven(phrase("then + Σ{}", place(0)), {letter("P", p)}));
    } else if (l_old && !(asks && a)) {
      out.notes.push_back(woven(phrase("their sum {} = {}", place(0), place(1)), {letter("ℓ", l), number(*l_old, l)}));
    }
  }
};

}  // namespace

std::string share_text(double share, ShareText how) {
  if (how == ShareText::exact) return significant_text(share * 100, 2) + " %";
  // What is left is there, but for what rounding leaves.
  const bool nearly_all = share >= 0.995 && share < 1 - 1e-6;
  const std::string whole = share < 0.005 ? "<1" : nearly_all ? ">99" : fmt::format("{:.0f}", share * 100);
  return how == ShareText::whole ? whole + " %" : whole;
}

RowChartScene row_chart_scene(const Recording& rec, const StepPlace& at, bool asks, bool letters) {
  RowBuilder b{rec, at, {}, at.i >= 0 ? at.i : at.first_row / std::max(at.br, 1)};
  b.out.row = at.row;
  b.out.letters = letters;
  b.out.subtracts = rec.options.subtract_max;
  if (order_row(rec.order).abreast == Abreast::parts) b.parts = {rec.key_tiles(), splits_of(rec.options)};
  b.out.parts = b.parts.parts;
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) b.add_tile(j);
  b.add_standing();
  b.add_weights();
  b.add_reason();
  b.add_range();
  if (letters) b.add_notes(asks);
  return b.out;
}

namespace {

// What a bar is: e^(S - m), or as the run has it.
TextRuns weight_words(const RowChartScene& scene) {
  constexpr TensorColour p = TensorColour::p;
  if (!scene.letters && scene.subtracts) return woven(phrase("weights {}", place(0)), {letter("P", p)});
  const char* raised = !scene.statistics ? "S − LSE" : scene.subtracts ? "S − m" : "S";
  TextRuns weights =
      woven(phrase("weights {}{}", place(0), place(1)), {letter("e", p), {raised, Face::maths, p, 1, false}});
  if (scene.final_weights && scene.statistics && scene.letters)
    weights.insert(weights.end(), {word(" / "), letter("ℓ", TensorColour::l)});
  return weights;
}

}  // namespace

std::vector<RowLegendEntry> legend_of_scores(const RowChartScene& scene) {
  constexpr TensorColour m = TensorColour::m;
  std::vector<RowLegendEntry> all{{RowMark::dot, woven(phrase("scores {}", place(0)), {letter("S", TensorColour::s)})}};
  if (!scene.statistics || !scene.letters) return all;
  const bool apart = scene.parts > 1 && !scene.merged;
  TextRuns maximum =
      woven(apart ? phrase("maximum {} of each part", place(0)) : phrase("maximum {}", place(0)), {letter("m", m)});
  if (scene.maximum) maximum.insert(maximum.end(), {word(" = "), number(*scene.maximum, m)});
  all.push_back({RowMark::line, std::move(maximum)});
  return all;
}

std::vector<RowLegendEntry> legend_of_weights(const RowChartScene& scene, bool shares) {
  std::vector<RowLegendEntry> all{{RowMark::bar, weight_words(scene)}};
  if (shares)
    all.push_back({RowMark::none, woven(scene.final_weights || scene.merged ? phrase("{}  share of the row", place(0))
                                        : scene.parts > 1                   ? phrase("{}  share of its part", place(0))
                                                          : phrase("{}  share, if the row ended here", place(0)),
                                        {{"%", Face::mono, Token::dim, 0, false}})});
  if (std::ranges::any_of(scene.keys, [](const RowChartKey& key) { return key.ghost > 0; }))
    all.push_back({RowMark::ghost, woven(phrase("before × {}", place(0)), {letter("α", TensorColour::alpha)})});
  return all;
}

}  // namespace attn
