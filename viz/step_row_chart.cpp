#include "viz/step_row_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "viz/number_text.h"

namespace attn {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

Run word(std::string text, Ink ink = Token::dim) {
  return {std::move(text), Face::text, ink, 0, false};
}
Run letter(std::string text, Ink ink) {
  return {std::move(text), Face::maths, ink, 0, false};
}
Run number(double x, Ink ink) {
  return {significant_text(x, 4), Face::mono, ink, 0, false};
}

// The value of a version in the followed row; -inf where the version does not cover it.
std::optional<float> at_row(const Recording& rec, VersionId id, std::int32_t row, std::int32_t col) {
  if (id == kNoVersion) return std::nullopt;
  const Version& v = rec.version(id);
  const std::int32_t r = row - v.first_row, c = col - v.first_col;
  if (r < 0 || r >= v.rows || c < 0 || c >= v.cols) return std::nullopt;
  return rec.values(id)[static_cast<std::size_t>(r) * static_cast<std::size_t>(v.cols) + static_cast<std::size_t>(c)];
}

struct Builder {
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
    const VersionId s = version(Slot::s, j);
    for (std::int32_t c = 0; c < tile.keys; ++c) {
      RowChartKey key;
      const std::int32_t k = tile.first_key + c;
      key.masked = !rec.problem.visible(at.b, at.row, k);
      if (const auto score = at_row(rec, s, at.row, k)) {
        key.scored = true;
        key.score = *score;
      }
      out.keys.push_back(key);
    }
    out.tiles.push_back(tile);
  }
  // The maximum that the weights of this moment are measured against, and the one before the rescaling.
  void add_weights() {
    const bool stored = stores_scores(rec.order);
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
      if (!at_row(rec, version(Slot::p, k / at.bc), at.row, k)) continue;
      key.weighed = true;
      key.weight = key.score == kMinusInfinity ? 0 : std::exp(static_cast<double>(key.score) - *m);
      if (stored && l && *l > 0) key.weight /= *l;
      if (ghosts) key.ghost = std::exp(static_cast<double>(key.score) - *m_old);
      out.any_weight = true;
    }
  }
  void add_range() {
    float least = std::numeric_limits<float>::max(), most = -least;
    const auto take = [&](float x) {
      if (!std::isfinite(x)) return;
      least = std::min(least, x);
      most = std::max(most, x);
      out.any_score = true;
    };
    for (const RowChartKey& key : out.keys) {
      if (key.scored && !key.masked) take(key.score);
      if (std::isfinite(key.weight)) out.most_weight = std::max({out.most_weight, key.weight, key.ghost});
    }
    for (const RowChartTile& tile : out.tiles) {
      if (tile.has_m) take(tile.m);
    }
    out.least = least;
    out.most = most;
  }
  void add_notes() {
    using enum TensorColour;
    const auto l_old = live_value(rec, at.event, Slot::l_old, at.row, 0),
               l_new = live_value(rec, at.event, Slot::l_new, at.row, 0);
    const auto a = live_value(rec, at.event, Slot::alpha, at.row, 0);
    if (stores_scores(rec.order)) {
      if (l_new) out.notes.push_back({word("divided by "), letter("ℓ", l), word(" = "), number(*l_new, l)});
      return;
    }
    if (l_new) {
      out.notes.push_back({word("their sum "), letter("ℓ", l), word(" = "), number(*l_new, l)});
    } else if (l_old && a) {
      out.notes.push_back({number(*a, alpha), word(" × "), number(*l_old, l), word(" = "),
                           number(static_cast<double>(*a) * *l_old, l)});
      out.notes.push_back({word("then + Σ"), letter("P", p)});
    } else if (l_old) {
      out.notes.push_back({word("their sum "), letter("ℓ", l), word(" = "), number(*l_old, l)});
    }
  }
};

struct Frame {
  ImDrawList* list;
  const RowChartScene& scene;
  Box scores, weights;  // plot areas
  float x_of(double key) const {
    return scores.min.x +
           scores.width() * static_cast<float>(key / static_cast<double>(std::max<std::size_t>(scene.keys.size(), 1)));
  }
  float y_of(float score) const {
    const float range = scene.most - scene.least;
    const float share = range > 0 ? (score - scene.least) / range : 0.5F;
    return scores.max.y - style().px(6) - (scores.height() - style().px(12)) * share;
  }
};

void draw_grounds(const Frame& f) {
  const Style& s = style();
  for (const RowChartTile& tile : f.scene.tiles) {
    const float a = f.x_of(tile.first_key), b = f.x_of(tile.first_key + tile.keys);
    if (tile.live) f.list->AddRectFilled({a, f.scores.min.y}, {b, f.weights.max.y}, colour_of(Token::band));
    if (tile.skipped)
      draw_hatch(f.list, {{a, f.scores.min.y}, {b, f.weights.max.y}}, faded(colour_of(Token::faint), 0.35F), 7);
    if (tile.first_key > 0 && b - a > s.px(6))
      f.list->AddLine({a, f.scores.min.y}, {a, f.weights.max.y}, colour_of(Token::line), std::max(1.0F, s.px(1)));
  }
  for (const RowChartTile& tile : f.scene.tiles) {
    if (tile.skipped) continue;
    for (std::int32_t c = 0; c < tile.keys; ++c) {
      const auto n = static_cast<std::size_t>(tile.first_key + c);
      const RowChartKey& key = f.scene.keys[n];
      if (key.masked && (key.scored || tile.live)) {
        draw_hatch(
            f.list,
            {{f.x_of(static_cast<double>(n)), f.scores.min.y}, {f.x_of(static_cast<double>(n + 1)), f.weights.max.y}},
            faded(colour_of(Token::faint), 0.35F), 7);
      }
    }
  }
}

void draw_scores(const Frame& f) {
  const Style& s = style();
  const ImU32 m = colour_of(TensorColour::m);
  std::optional<ImVec2> last;
  for (const RowChartTile& tile : f.scene.tiles) {
    if (!tile.has_m || !std::isfinite(tile.m)) continue;
    const float y = f.y_of(tile.m), a = f.x_of(tile.first_key), b = f.x_of(tile.first_key + tile.keys);
    if (last && last->x == a) f.list->AddLine(*last, {a, y}, m, s.px(2));
    f.list->AddLine({a, y}, {b, y}, m, s.px(2));
    last = ImVec2{b, y};
  }
  const float pitch = f.scores.width() / static_cast<float>(std::max<std::size_t>(f.scene.keys.size(), 1));
  const float radius = std::clamp(pitch * 0.3F, s.px(1.2F), s.px(4));
  for (std::size_t n = 0; n < f.scene.keys.size(); ++n) {
    const RowChartKey& key = f.scene.keys[n];
    if (!key.scored || key.masked || !std::isfinite(key.score)) continue;
    f.list->AddCircleFilled({f.x_of(static_cast<double>(n) + 0.5), f.y_of(key.score)}, radius,
                            colour_of(TensorColour::s));
  }
}

void draw_weights(const Frame& f) {
  const Style& s = style();
  const float base = f.weights.max.y, height = f.weights.height();
  f.list->AddLine({f.weights.min.x, base}, {f.weights.max.x, base}, colour_of(Token::faint), std::max(1.0F, s.px(1)));
  const float pitch = f.weights.width() / static_cast<float>(std::max<std::size_t>(f.scene.keys.size(), 1));
  const float width = std::clamp(pitch * 0.62F, 1.0F, s.px(34));
  for (std::size_t n = 0; n < f.scene.keys.size(); ++n) {
    const RowChartKey& key = f.scene.keys[n];
    if (!key.weighed || !std::isfinite(key.weight)) continue;
    const float x = f.x_of(static_cast<double>(n) + 0.5);
    const auto top = [&](double w) {
      return base - height * static_cast<float>(std::min(w / f.scene.most_weight, 1.0));
    };
    // A weight that is not zero is at least a line.
    const float y = key.weight > 0 ? std::min(top(key.weight), base - s.px(1.5F)) : base;
    f.list->AddRectFilled({x - width / 2, y}, {x + width / 2, base}, colour_of(TensorColour::p));
    if (key.ghost > 0)
      draw_dashed(f.list, {{x - width / 2, std::min(top(key.ghost), base - s.px(2))}, {x + width / 2, base}},
                  colour_of(TensorColour::p), 2);
  }
}

void draw_axes(const Frame& f, const Box& box) {
  const Style& s = style();
  const float right = f.scores.min.x - s.px(8);
  const auto label = [&](float y, const std::string& text) {
    draw_text_in(f.list, {{box.min.x, y - s.px(8)}, {right, y + s.px(8)}}, Align::right, Face::mono, 11,
                 colour_of(Token::dim), text);
  };
  if (f.scene.any_score) {
    label(f.y_of(f.scene.most), significant_text(f.scene.most, 3));
    if (f.scene.most > f.scene.least) label(f.y_of(f.scene.least), significant_text(f.scene.least, 3));
  }
  if (f.weights.height() > s.px(26)) label(f.weights.min.y + s.px(2), significant_text(f.scene.most_weight, 3));
  label(f.weights.max.y - s.px(1), "0");
  float last = -1e9F;
  for (const RowChartTile& tile : f.scene.tiles) {
    if (f.scene.tiles.size() < 2) break;
    const float a = f.x_of(tile.first_key), b = f.x_of(tile.first_key + tile.keys);
    std::string text = fmt::format("key tile {}", tile.first_key / std::max(f.scene.tiles[0].keys, 1));
    if (text_width(Face::text, 12, text) > b - a - s.px(4)) text = text.substr(9);
    const float width = text_width(Face::text, 12, text), x = (a + b - width) / 2;
    if (x < last + s.px(6)) continue;
    last = x + width;
    draw_text(f.list, {x, f.weights.max.y + s.px(5)}, Face::text, 12, colour_of(tile.live ? Token::text : Token::dim),
              text);
  }
}

void draw_legend(ImDrawList* list, const Box& box, const RowChartScene& scene, float weights_top) {
  const Style& s = style();
  constexpr TensorColour m = TensorColour::m, p = TensorColour::p, alpha = TensorColour::alpha;
  const float step = s.px(20), text_x = box.min.x + s.px(16);
  float y = box.min.y;
  const auto line = [&](const Runs& runs) {
    draw_runs(list, {text_x, y}, 13, runs);
    y += step;
  };
  list->AddCircleFilled({box.min.x + s.px(5), y + s.px(7)}, s.px(4), colour_of(TensorColour::s));
  line({word("scores "), letter("S", TensorColour::s)});
  list->AddRectFilled({box.min.x - s.px(1), y + s.px(6)}, {box.min.x + s.px(11), y + s.px(8)}, colour_of(m));
  Runs maximum{word("maximum "), letter("m", m)};
  for (const RowChartTile& tile : scene.tiles) {
    if (tile.live && tile.has_m) maximum.insert(maximum.end(), {word(" = "), number(tile.m, m)});
  }
  line(maximum);
  bool ghosts = false;
  for (const RowChartKey& key : scene.keys) ghosts = ghosts || key.ghost > 0;
  const auto wanted = static_cast<float>(1 + (ghosts ? 1 : 0) + static_cast<int>(scene.notes.size()));
  y = std::max(y, std::min(weights_top, box.max.y - wanted * step));
  list->AddRectFilled({box.min.x, y + s.px(2)}, {box.min.x + s.px(10), y + s.px(12)}, colour_of(p));
  line({word("weights "), letter("e", p), {"S − m", Face::maths, p, 1, false}});
  if (ghosts) {
    draw_dashed(list, {{box.min.x, y + s.px(2)}, {box.min.x + s.px(10), y + s.px(12)}}, colour_of(p), 2);
    line({word("before × "), letter("α", alpha)});
  }
  for (const Runs& note : scene.notes) {
    if (y + step > box.max.y + s.px(6)) break;
    line(note);
  }
}

}  // namespace

RowChartScene row_chart_scene(const Recording& rec, const StepPlace& at, const ExactTile* exact) {
  static_cast<void>(exact);
  Builder b{rec, at, {}, at.i >= 0 ? at.i : at.first_row / std::max(at.br, 1)};
  b.out.row = at.row;
  b.out.title = {{fmt::format("Row {} across the keys", at.row), Face::bold, Token::text, 0, false}};
  for (std::int32_t j = 0; j < rec.key_tiles(); ++j) b.add_tile(j);
  b.add_weights();
  b.add_range();
  b.add_notes();
  return b.out;
}

void draw_row_chart(ImDrawList* list, const Box& box, const RowChartScene& scene) {
  const Style& s = style();
  draw_card(list, box);
  const Box in{{box.min.x + s.px(16), box.min.y + s.px(12)}, {box.max.x - s.px(16), box.max.y - s.px(12)}};
  draw_runs(list, in.min, 14, scene.title);
  const float legend = in.width() > s.px(430) ? s.px(176) : 0;
  const float left = in.min.x + s.px(46), right = in.max.x - (legend > 0 ? legend + s.px(18) : 0);
  const float top = in.min.y + s.px(30), bottom = in.max.y - s.px(18);
  if (bottom - top < s.px(48)) return;
  const float split = top + (bottom - top) * 0.62F;
  const Frame frame{list, scene, {{left, top}, {right, split}}, {{left, split + s.px(8)}, {right, bottom}}};
  draw_grounds(frame);
  list->AddLine({left, top}, {left, bottom}, colour_of(Token::line), std::max(1.0F, s.px(1)));
  draw_scores(frame);
  draw_weights(frame);
  draw_axes(frame, in);
  if (!scene.any_score)
    draw_text_in(list, frame.scores, Align::centre, Face::text, 13, colour_of(Token::dim), "no score yet");
  if (legend > 0)
    draw_legend(list, {{in.max.x - legend, top - s.px(2)}, {in.max.x, in.max.y}}, scene, frame.weights.min.y);
}

}  // namespace attn
