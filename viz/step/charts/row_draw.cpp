#include "viz/step/charts/charts_draw.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "viz/draw/number_text.h"
#include "viz/draw/theme.h"

namespace attn {
namespace {

struct Frame {
  ImDrawList* list;
  const RowChartScene& scene;
  Box scores, weights;   // plot areas
  Box m_strip, l_strip;  // m and l after each key tile; empty where there is no room
  bool strips = false;
  AskedBar* asked = nullptr;
  Box no_score{}, no_weight{};  // where words stand in place of what is not there yet; empty where there are none
  int word_lines = 0;           // of the keys' words; 0: they have no room, or there are none
  float pitch() const { return scores.width() / static_cast<float>(std::max<std::size_t>(scene.keys.size(), 1)); }
  float bar_width() const { return std::clamp(pitch() * 0.62F, 1.0F, style().px(34)); }
  bool asks_for(std::size_t key) const { return asked != nullptr && static_cast<std::size_t>(asked->key) == key; }
  float bottom() const { return strips ? l_strip.max.y : weights.max.y; }
  float x_of(double key) const {
    return scores.min.x +
           scores.width() * static_cast<float>(key / static_cast<double>(std::max<std::size_t>(scene.keys.size(), 1)));
  }
  float y_of(float score) const {
    const float range = scene.max - scene.min;
    const float share = range > 0 ? (score - scene.min) / range : 0.5F;
    return scores.max.y - style().px(6) - (scores.height() - style().px(12)) * share;
  }
};

// In the middle of the live tile, or of the plot where that is too narrow.
Box words_box(const Frame& f, const Box& plot, const std::string& words) {
  const float wide = text_width(Face::text, 13, words) / 2 + style().px(6), high = style().px(10);
  ImVec2 centre = plot.centre();
  for (const RowChartTile& tile : f.scene.tiles) {
    const float a = f.x_of(tile.first_key), b = f.x_of(tile.first_key + tile.keys);
    if (tile.live && b - a >= 2 * wide) centre.x = (a + b) / 2;
  }
  return {{centre.x - wide, centre.y - high}, {centre.x + wide, centre.y + high}};
}

// Between two key tiles, and through no words.
void draw_divider(const Frame& f, float x) {
  float y = f.scores.min.y;
  const auto to = [&](float end) {
    if (end > y) f.list->AddLine({x, y}, {x, end}, colour_of(Token::line), std::max(1.0F, style().px(1)));
  };
  for (const Box* words : {&f.no_score, &f.no_weight}) {
    if (x < words->min.x || x > words->max.x || words->width() <= 0) continue;
    to(words->min.y);
    y = words->max.y;
  }
  to(f.scene.merged ? f.weights.max.y : f.bottom());  // the merged m and l are of all tiles
}

void draw_grounds(const Frame& f) {
  const Style& s = style();
  for (const RowChartTile& tile : f.scene.tiles) {
    const float a = f.x_of(tile.first_key), b = f.x_of(tile.first_key + tile.keys);
    if (tile.live) f.list->AddRectFilled({a, f.scores.min.y}, {b, f.bottom()}, colour_of(Token::band));
    if (tile.skipped)
      draw_hatch(f.list, {{a, f.scores.min.y}, {b, f.bottom()}}, faded(colour_of(Token::faint), 0.35F), 7);
    if (tile.first_key > 0 && b - a > s.px(6)) draw_divider(f, a);
  }
  for (const RowChartTile& tile : f.scene.tiles) {
    if (tile.skipped) continue;
    for (std::int32_t c = 0; c < tile.keys; ++c) {
      const std::size_t n = static_cast<std::size_t>(tile.first_key) + static_cast<std::size_t>(c);
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
  for (const RowChartTile& tile : statistics_of(f.scene)) {
    if (tile.starts_part) last.reset();
    if (!f.scene.letters || !tile.has_m || !std::isfinite(tile.m)) continue;
    const float y = f.y_of(tile.m), a = f.x_of(tile.first_key), b = f.x_of(tile.first_key + tile.keys);
    if (last && last->x == a) f.list->AddLine(*last, {a, y}, m, s.px(2));
    f.list->AddLine({a, y}, {b, y}, m, s.px(2));
    last = ImVec2{b, y};
  }
  const float pitch = f.pitch();
  const float radius = std::clamp(pitch * 0.3F, s.px(1.2F), s.px(4));
  for (std::size_t n = 0; n < f.scene.keys.size(); ++n) {
    const RowChartKey& key = f.scene.keys[n];
    if (!key.scored || key.masked) continue;
    if (!std::isfinite(key.score)) {
      // Off the scale: at the edge that it lies beyond.
      const float x = f.x_of(static_cast<double>(n) + 0.5), middle = f.scores.centre().y;
      const float y = std::isnan(key.score) ? middle
                      : key.score > 0       ? f.scores.min.y + s.px(7)
                                            : f.scores.max.y - s.px(7);
      draw_text_in(f.list, {{x - s.px(20), y - s.px(8)}, {x + s.px(20), y + s.px(8)}}, Align::centre, Face::text, 13,
                   colour_of(TensorColour::s), number_text(key.score, {0, false}));
      continue;
    }
    f.list->AddCircleFilled({f.x_of(static_cast<double>(n) + 0.5), f.y_of(key.score)}, radius,
                            colour_of(TensorColour::s));
  }
}

// How the shares over all bars are written: the most exact way that leaves room for each; none where there is none.
std::optional<ShareText> shares_over_bars(const Frame& f) {
  for (const ShareText how : {ShareText::exact, ShareText::whole, ShareText::bare}) {
    float widest = 0;
    for (const RowChartKey& key : f.scene.keys)
      if (key.share > 0) widest = std::max(widest, text_width(Face::mono, 11, share_text(key.share, how)));
    if (widest > 0 && widest + style().px(4) < f.pitch()) return how;
  }
  return std::nullopt;
}

// On a plate: hatching would strike through the words.
void draw_plated(const Frame& f, const Box& box, const std::string& words) {
  const Style& s = style();
  f.list->AddRectFilled(box.min, box.max, colour_of(Token::card), s.px(4));
  draw_text_in(f.list, box, Align::centre, Face::text, 13, colour_of(Token::dim), words);
}

void draw_weights(const Frame& f) {
  const Style& s = style();
  const float base = f.weights.max.y, height = f.weights.height();
  f.list->AddLine({f.weights.min.x, base}, {f.weights.max.x, base}, colour_of(Token::faint), std::max(1.0F, s.px(1)));
  const float pitch = f.pitch(), width = f.bar_width();
  const std::optional<ShareText> shares = shares_over_bars(f);
  for (std::size_t n = 0; n < f.scene.keys.size(); ++n) {
    const RowChartKey& key = f.scene.keys[n];
    if (!key.weighed || f.asks_for(n)) continue;
    const float x = f.x_of(static_cast<double>(n) + 0.5);
    if (!std::isfinite(key.weight)) {
      // Overflow: a full bar that says so.
      const Box bar{{x - width / 2, f.weights.min.y}, {x + width / 2, base}};
      f.list->AddRectFilled(bar.min, bar.max, colour_of(TensorColour::p));
      draw_hatch(f.list, bar, colour_of(Token::card), 5);
      draw_text_in(f.list, {{x - s.px(20), f.weights.min.y - s.px(16)}, {x + s.px(20), f.weights.min.y}}, Align::centre,
                   Face::text, 14, colour_of(Token::text), std::isnan(key.weight) ? "nan" : "∞");
      continue;
    }
    const auto top = [&](double w) {
      return base - height * static_cast<float>(std::min(w / f.scene.max_weight, 1.0));
    };
    // A weight that is not zero is at least a line.
    const float y = key.weight > 0 ? std::min(top(key.weight), base - s.px(1.5F)) : base;
    f.list->AddRectFilled({x - width / 2, y}, {x + width / 2, base}, colour_of(TensorColour::p));
    if (key.ghost > 0)
      draw_dashed(f.list, {{x - width / 2, std::min(top(key.ghost), base - s.px(2))}, {x + width / 2, base}},
                  colour_of(TensorColour::p), 2);
    if (shares && key.share > 0) {
      const std::string share = share_text(key.share, *shares);
      const float above = std::min(y, key.ghost > 0 ? top(key.ghost) : y) - s.px(14);
      draw_text_in(f.list, {{x - pitch / 2, above}, {x + pitch / 2, above + s.px(13)}}, Align::centre, Face::mono, 11,
                   colour_of(Token::dim), share);
    }
  }
  if (!f.scene.no_weight.empty()) draw_plated(f, f.no_weight, f.scene.no_weight);
}

// The bar that is dragged, with a grip on its top; where it stood stays as an outline.
void draw_asked_bar(const Frame& f) {
  if (f.asked == nullptr || static_cast<std::size_t>(f.asked->key) >= f.scene.keys.size()) return;
  const Style& s = style();
  constexpr float kGrip = 5;
  const float x = f.x_of(f.asked->key + 0.5), width = f.bar_width(), base = f.weights.max.y,
              height = f.weights.height();
  const auto top = [&](double w) {
    return base - height * static_cast<float>(std::clamp(w / f.scene.max_weight, 0.0, 1.0));
  };
  const float reach = std::max(width / 2, s.px(9));
  const Box hand{{x - reach, f.weights.min.y - s.px(kGrip + 3)}, {x + reach, base + s.px(kGrip + 1)}};
  ImGui::SetCursorScreenPos(hand.min);
  ImGui::InvisibleButton("##asked_bar", {hand.width(), hand.height()});
  const bool held = ImGui::IsItemActive();
  if (held || ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  if (held) {
    const double share = std::clamp((base - ImGui::GetMousePos().y) / height, 0.0F, 1.0F);
    f.asked->dragged_to = f.asked->value = share * f.scene.max_weight;
  }
  const double stood = f.scene.keys[static_cast<std::size_t>(f.asked->key)].weight;
  draw_dashed(f.list, {{x - width / 2, top(stood)}, {x + width / 2, base}}, colour_of(TensorColour::p), 2);
  if (!f.asked->value) return;
  const float y = top(*f.asked->value);
  f.list->AddRectFilled({x - width / 2, y}, {x + width / 2, base}, colour_of(TensorColour::p));
  const Box grip{{x - std::max(width / 2, s.px(8)), y - s.px(2)}, {x + std::max(width / 2, s.px(8)), y + s.px(2)}};
  f.list->AddRectFilled(grip.min, grip.max, colour_of(Token::text), s.px(2));
  for (const auto& [arrow, from] : {std::pair(-1.0F, grip.min.y - s.px(2)), std::pair(1.0F, grip.max.y + s.px(2))})
    f.list->AddTriangleFilled({x - s.px(4), from}, {x, from + arrow * s.px(kGrip)}, {x + s.px(4), from},
                              colour_of(Token::text));
}

// m and l after each key tile: numbers where they fit, else a shade; a dashed slot where the run has not come yet.
void draw_strip(const Frame& f, const Box& strip, TensorColour hue) {
  const Style& s = style();
  const bool is_m = hue == TensorColour::m;
  const auto has = [&](const RowChartTile& t) { return is_m ? t.has_m : t.has_l; };
  const auto value = [&](const RowChartTile& t) { return is_m ? t.m : t.l; };
  float min = std::numeric_limits<float>::max(), max = -min;
  for (const RowChartTile& tile : statistics_of(f.scene)) {
    if (!has(tile) || !std::isfinite(value(tile))) continue;
    min = std::min(min, value(tile));
    max = std::max(max, value(tile));
  }
  for (const RowChartTile& tile : statistics_of(f.scene)) {
    if (tile.skipped && !has(tile)) continue;  // hatched with its tile
    const Box cell{{f.x_of(tile.first_key) + s.px(2), strip.min.y + s.px(1)},
                   {f.x_of(tile.first_key + tile.keys) - s.px(2), strip.max.y - s.px(1)}};
    if (!has(tile)) {
      if (cell.width() > s.px(3)) draw_dashed(f.list, cell, faded(colour_of(Token::faint), 0.8F), 2);
      continue;
    }
    std::string text = significant_text(value(tile), 4);
    if (text_width(Face::mono, 12, text) > cell.width()) text = significant_text(value(tile), 2);
    if (text_width(Face::mono, 12, text) <= cell.width()) {
      const bool number = std::isfinite(value(tile));
      draw_text_in(f.list, cell, Align::centre, number ? Face::mono : Face::text, 12, colour_of(hue), text);
      continue;
    }
    const float share = max > min ? 2 * (value(tile) - min) / (max - min) - 1 : 0;
    f.list->AddRectFilled({cell.min.x - s.px(1), cell.min.y}, {cell.max.x + s.px(1), cell.max.y},
                          cell_fill(s.theme, hue, std::clamp(share, -1.0F, 1.0F)));
  }
}

constexpr float kWordLine = 16;  // logical

// On how many lines the keys' words stand, by turns, where each is whole under its key; 0: there are none, or no room.
int word_lines(const RowChartScene& scene, float width) {
  constexpr int kMost = 3;
  if (scene.keys.empty() || scene.keys.front().word.empty()) return 0;
  const float pitch = width / static_cast<float>(scene.keys.size());
  float widest = 0;
  for (const RowChartKey& key : scene.keys) widest = std::max(widest, text_width(Face::text, 12, key.word));
  for (int lines = 1; lines <= kMost; ++lines)
    if (widest + style().px(2) <= pitch * static_cast<float>(lines)) return lines;
  return pitch >= style().px(22) ? 1 : 0;  // the longest are cut
}

// The keys' words in place of their tiles' numbers; whether there are any.
bool draw_words(const Frame& f) {
  const Style& s = style();
  const float room = f.pitch() * static_cast<float>(f.word_lines) - s.px(2);
  for (const RowChartTile& tile : f.scene.tiles) {
    for (std::int32_t c = 0; c < tile.keys && f.word_lines > 0; ++c) {
      const std::int32_t n = tile.first_key + c;
      const float line = s.px(kWordLine) * static_cast<float>(n % f.word_lines), x = f.x_of(n + 0.5);
      const float top = f.bottom() + s.px(2) + line;
      // Between the words of the line above.
      if (line > 0 && f.word_lines == 2)
        f.list->AddLine({x, f.bottom() + s.px(2)}, {x, top + s.px(1)}, colour_of(Token::line), s.px(1));
      draw_text_in(f.list, {{x - room / 2, top}, {x + room / 2, top + s.px(kWordLine)}}, Align::centre, Face::text, 12,
                   colour_of(tile.live ? Token::text : Token::dim),
                   elided_text(Face::text, 12, f.scene.keys[static_cast<std::size_t>(n)].word, room));
    }
  }
  return f.word_lines > 0;
}

// As many digits as the axis has room for.
std::string top_weight(double weight, float room) {
  int digits = 3;
  while (digits > 1 && text_width(Face::mono, 11, significant_text(weight, digits)) > room) --digits;
  return significant_text(weight, digits);
}

void draw_axes(const Frame& f, const Box& box) {
  const Style& s = style();
  const float right = f.scores.min.x - s.px(8);
  // Two scales, one above the other: each in the colour of what it measures.
  const auto label = [&](float y, const std::string& text, TensorColour hue) {
    draw_text_in(f.list, {{box.min.x, y - s.px(8)}, {right, y + s.px(8)}}, Align::right, Face::mono, 11, colour_of(hue),
                 text);
  };
  constexpr TensorColour kScore = TensorColour::s, kWeight = TensorColour::p;
  if (f.scene.any_score) {
    label(f.y_of(f.scene.max), significant_text(f.scene.max, 3), kScore);
    if (f.scene.max > f.scene.min) label(f.y_of(f.scene.min), significant_text(f.scene.min, 3), kScore);
  }
  // A full bar means nothing without it.
  label(f.weights.min.y + s.px(2), top_weight(f.scene.max_weight, right - box.min.x), kWeight);
  if (f.weights.height() > s.px(14)) label(f.weights.max.y - s.px(1), "0", kWeight);
  if (f.strips) {
    const auto name = [&](const Box& strip, const char* text, TensorColour hue) {
      draw_text_in(f.list, {{box.min.x, strip.min.y}, {right, strip.max.y}}, Align::right, Face::maths, 15,
                   colour_of(hue), text);
    };
    name(f.m_strip, "m", TensorColour::m);
    name(f.l_strip, "ℓ", TensorColour::l);
  }
  if (draw_words(f)) return;
  float last = -1e9F;
  for (const RowChartTile& tile : f.scene.tiles) {
    if (f.scene.tiles.size() < 2) break;
    const float a = f.x_of(tile.first_key), b = f.x_of(tile.first_key + tile.keys);
    std::string text = phrase("key tile {}", tile.first_key / std::max(f.scene.tiles[0].keys, 1));
    if (text_width(Face::text, 12, text) > b - a - s.px(4)) text = text.substr(9);
    const float width = text_width(Face::text, 12, text), x = (a + b - width) / 2;
    if (x < last + s.px(6)) continue;
    last = x + width;
    draw_text(f.list, {x, f.bottom() + s.px(4)}, Face::text, 12, colour_of(tile.live ? Token::text : Token::dim), text);
  }
}

constexpr float kMark = 16, kEntry = 20;  // logical: words stand behind a mark; a line

void draw_entry(ImDrawList* list, ImVec2 at, const RowLegendEntry& entry) {
  const Style& s = style();
  const Box box{{at.x, at.y + s.px(2)}, {at.x + s.px(10), at.y + s.px(12)}};
  if (entry.mark == RowMark::dot)
    list->AddCircleFilled({at.x + s.px(5), at.y + s.px(7)}, s.px(4), colour_of(TensorColour::s));
  if (entry.mark == RowMark::line)
    list->AddRectFilled({at.x - s.px(1), at.y + s.px(6)}, {at.x + s.px(11), at.y + s.px(8)},
                        colour_of(TensorColour::m));
  if (entry.mark == RowMark::bar) list->AddRectFilled(box.min, box.max, colour_of(TensorColour::p));
  if (entry.mark == RowMark::ghost) draw_dashed(list, box, colour_of(TensorColour::p), 2);
  draw_runs(list, {at.x + s.px(kMark), at.y}, 13, entry.words);
}

// Beside the chart: what is above stands above, then the notes.
void draw_legend(ImDrawList* list, const Box& box, const RowChartScene& scene, float weights_top, bool shares) {
  const float step = style().px(kEntry);
  float y = box.min.y;
  const auto line = [&](const RowLegendEntry& entry) {
    draw_entry(list, {box.min.x, y}, entry);
    y += step;
  };
  std::ranges::for_each(legend_of_scores(scene), line);
  const std::vector<RowLegendEntry> weights = legend_of_weights(scene, shares);
  const std::size_t wanted = weights.size() + (shares ? 0 : 1) + scene.notes.size();
  y = std::max(y, std::min(weights_top, box.max.y - static_cast<float>(wanted) * step));
  std::ranges::for_each(weights, line);
  for (const TextRuns& note : scene.notes) {
    if (y + step > box.max.y + style().px(6)) break;
    line({RowMark::none, note});
  }
}

// Below it, where it has the width for itself: one beside the other. Returns the height that they take.
float draw_legend_below(ImDrawList* list, ImVec2 at, float width, const RowChartScene& scene, bool shares, bool draw) {
  const Style& s = style();
  float x = at.x, y = at.y;
  const auto next = [&](const RowLegendEntry& entry) {
    const float wide = runs_width(entry.words, 13) + s.px(kMark);
    if (x > at.x && x + wide > at.x + width) x = at.x, y += s.px(kEntry);
    if (draw) draw_entry(list, {x, y}, entry);
    x += wide + s.px(14);
  };
  std::ranges::for_each(legend_of_scores(scene), next);
  std::ranges::for_each(legend_of_weights(scene, shares), next);
  return y + s.px(kEntry) - at.y;
}

}  // namespace

void draw_row_chart(ImDrawList* list, const Box& in, const RowChartScene& scene, AskedBar* asked) {
  const Style& s = style();
  constexpr float kLegend = 176, kLegendGap = 18, kBeside = 430, kLeastAbove = 120, kTall = 300;  // logical
  const float left = in.min.x + s.px(46), beside = s.px(kLegend + kLegendGap), top = in.min.y;
  const float below = draw_legend_below(list, in.min, in.width(), scene, true, false);
  // Below where that is the only room, or lets the words of a tall chart stand on fewer lines.
  const bool slim = in.width() <= s.px(kBeside), wordy = word_lines(scene, in.max.x - beside - left) > 1;
  const bool has_below = slim ? in.height() - below >= s.px(kLeastAbove) : wordy && in.height() >= s.px(kTall);
  const float legend = slim || has_below ? 0 : s.px(kLegend), right = in.max.x - (legend > 0 ? beside : 0);
  const int lines = word_lines(scene, right - left);
  const float foot = s.px(2 + kWordLine * static_cast<float>(std::max(lines, 1))) + (has_below ? below : 0);
  const float bottom = in.max.y - foot;
  if (bottom - top < s.px(48)) return;
  // The strips take their height where the charts keep theirs.
  const bool strips = scene.statistics && scene.letters && bottom - top >= s.px(104);
  const float plots = bottom - (strips ? s.px(40) : 0);
  const float split = top + (plots - top) * 0.46F;
  Frame frame{
      list, scene, {{left, top}, {right, split}}, {{left, split + s.px(20)}, {right, plots}}, {}, {}, strips, asked, {},
      {},   lines};
  if (strips) {
    frame.m_strip = {{left, plots + s.px(3)}, {right, plots + s.px(21)}};
    frame.l_strip = {{left, plots + s.px(22)}, {right, plots + s.px(40)}};
  }
  // A row without a key says so where its weights would stand.
  const bool hidden = std::all_of(scene.keys.begin(), scene.keys.end(), [](const RowChartKey& k) { return k.masked; });
  // Where what is not finite is written as a mark of each key, the marks say it.
  const bool marked =
      std::any_of(scene.keys.begin(), scene.keys.end(), [](const RowChartKey& k) { return k.scored && !k.masked; });
  if (!scene.any_score && !hidden && !marked) frame.no_score = words_box(frame, frame.scores, scene.no_score);
  if (!scene.no_weight.empty()) frame.no_weight = words_box(frame, frame.weights, scene.no_weight);
  draw_grounds(frame);
  list->AddLine({left, top}, {left, frame.bottom()}, colour_of(Token::line), std::max(1.0F, s.px(1)));
  draw_scores(frame);
  draw_weights(frame);
  draw_asked_bar(frame);
  if (strips) {
    draw_strip(frame, frame.m_strip, TensorColour::m);
    draw_strip(frame, frame.l_strip, TensorColour::l);
  }
  draw_axes(frame, in);
  if (frame.no_score.width() > 0) draw_plated(frame, frame.no_score, scene.no_score);
  const bool shares = shares_over_bars(frame).has_value();
  if (has_below) draw_legend_below(list, {in.min.x, in.max.y - below + s.px(4)}, in.width(), scene, shares, true);
  if (legend > 0)
    draw_legend(list, {{in.max.x - legend, top - s.px(2)}, {in.max.x, in.max.y}}, scene, frame.weights.min.y, shares);
}

}  // namespace attn
