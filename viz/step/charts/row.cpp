#include "viz/step/charts/row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/draw/number_text.h"

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

struct RowBuilder {
  const Recording& rec;
  const StepPlace& at;
  RowChartScene out;
  std::int32_t i = 0;

  VersionId version(Slot slot, std::int32_t j) const { return rec.tile_version(slot, at.b, at.h, i, j, at.event); }

  void add_tile(std::int32_t j) {
    RowChartTile tile;
    tile.first_key = j * at.bc;
    tile.keys = static_cast<std::int32_t>(std::min<std::int64_t>(at.bc, rec.problem.Lk - tile.first_key));
    tile.live = j == at.j;
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
    const auto m_old = live_value(rec, at.event, Slot::m_old, at.row, 0),
               m_new = live_value(rec, at.event, Slot::m_new, at.row, 0);
    const bool rescaled = rec.after(at.event, Slot::alpha) != kNoVersion || stored;
    const auto m = rescaled || !m_old ? (m_new ? m_new : m_old) : m_old;
    if (!m) return;
    const bool ghosts = rec.events[at.event].id.phase == Phase::rescale && m_old && *m_old != *m;
    const auto l = live_value(rec, at.event, Slot::l_new, at.row, 0);
    for (std::size_t n = 0; n < out.keys.size(); ++n) {
      RowChartKey& key = out.keys[n];
      const auto k = static_cast<std::int32_t>(n);
      if (!key.scored || key.masked) continue;
      const auto recorded = at_row(rec, version(Slot::p, k / at.bc), at.row, k);
      if (!recorded) continue;
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
    double sum = 0;
    for (const RowChartKey& key : out.keys) sum += key.weighed ? key.weight : 0;
    if (stores_scores(rec.order)) sum = 1;  // its weights are divided by the whole row's l already
    for (RowChartKey& key : out.keys) {
      if (key.weighed && sum > 0 && std::isfinite(sum)) key.share = key.weight / sum;
    }
  }
  // Why no weight stands in the chart.
  void add_reason() {
    if (out.any_weight) return;
    const bool none = std::all_of(out.keys.begin(), out.keys.end(), [](const RowChartKey& k) { return k.masked; });
    const Event& now = rec.events[at.event];
    if (none)
      out.no_weight = tr("this row sees no key, so it has no weights");
    else if (!stores_scores(rec.order))
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
  }
  void add_notes(bool asks) {
    using enum TensorColour;
    const auto l_old = live_value(rec, at.event, Slot::l_old, at.row, 0),
               l_new = live_value(rec, at.event, Slot::l_new, at.row, 0);
    const auto a = live_value(rec, at.event, Slot::alpha, at.row, 0);
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
  const std::string whole = share < 0.005 ? "<1" : fmt::format("{:.0f}", share * 100);
  return how == ShareText::whole ? whole + " %" : whole;
}

RowChartScene row_chart_scene(const Recording& rec, const StepPlace& at, bool asks) {
  RowBuilder b{rec, at, {}, at.i >= 0 ? at.i : at.first_row / std::max(at.br, 1)};
  b.out.row = at.row;
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) b.add_tile(j);
  b.add_weights();
  b.add_reason();
  b.add_range();
  b.add_notes(asks);
  return b.out;
}

}  // namespace attn
