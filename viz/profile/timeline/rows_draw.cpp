#include "viz/profile/timeline/rows_draw.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"

namespace attn {
namespace {

constexpr float kNarrowest = 3;  // pixels: stretches that are narrower are joined
constexpr float kLeastIdle = 4;  // logical pixels
constexpr float kOthers = 0.4F;  // what is not of the tile that is followed

float strength(const PipelineScene& scene, const TimelineStretch& x) {
  return scene.follow < 0 || x.tile == scene.follow ? 1 : kOthers;
}

// `patch`: what is laid under it, so that no line strikes it through; 0: nothing.
void draw_letter(ImDrawList* list, const Box& box, const TimelineStretch& x, ImU32 ink, ImU32 patch) {
  const Style& s = style();
  if (x.letter.empty()) return;
  const bool word = x.letter.size() > 1;  // of what is no tensor
  const Face face = word ? Face::text : Face::maths;
  const float size = word ? 11 : 13;
  const std::string tile = x.tile >= 0 && !word ? fmt::format("{}", x.tile) : "";
  const float letter = text_width(face, size, x.letter), number = text_width(Face::mono, 10, tile);
  const bool low = box.height() < s.px(20);
  // In the middle of what is in sight.
  const float from = std::max(box.min.x, list->GetClipRectMin().x), to = std::min(box.max.x, list->GetClipRectMax().x);
  const float room = to - from;
  const bool both = letter + number + s.px(6) < room;
  if (!both && letter + s.px(3) >= room) return;
  const float left = (from + to) / 2 - (letter + (both ? number + s.px(1) : 0)) / 2, up = both && !low ? s.px(1) : 0;
  if (patch != 0) {
    const float wide = letter + (both ? number + s.px(1) : 0), half = std::min(line_height(13), box.height()) / 2;
    const float middle = box.centre().y;
    list->AddRectFilled({left - s.px(1), middle - half + s.px(1)}, {left + wide + s.px(1), middle + half - s.px(1)},
                        patch);
  }
  draw_text_in(list, {{left, box.min.y - up}, {left + letter, box.max.y - up}}, Align::left, face, size, ink, x.letter);
  if (both)
    // Lower than the letter, where the box has room for that.
    draw_text_in(list, {{left + letter + s.px(1), box.min.y + s.px(low ? 1 : 2)}, {to, box.max.y + s.px(low ? 1 : 2)}},
                 Align::left, Face::mono, 10, ink, tile);
}

}  // namespace

void draw_stretch(ImDrawList* list, const PipelineScene& scene, const TimelineStretch& x, const Box& box) {
  const Style& s = style();
  const float strong = strength(scene, x);
  const ImU32 hue = faded(colour_of(x.ink), strong);
  switch (x.look) {
    case StretchLook::work:
      list->AddRectFilled(box.min, box.max, hue, s.px(1));
      break;
    case StretchLook::wait:
      draw_outline(list, box, faded(hue, 0.85F), s.px(1), 1);
      break;
    case StretchLook::flight:
      draw_hatch(list, box, faded(hue, 0.65F), 5);
      draw_outline(list, box, hue, s.px(1), 1);
      break;
    case StretchLook::landed:
      list->AddRectFilled(box.min, box.max, faded(hue, 0.28F));
      break;
    case StretchLook::read:
      list->AddRectFilled({box.min.x, box.min.y + s.px(0.5F)}, {box.max.x, box.max.y - s.px(0.5F)}, hue);
      break;
    case StretchLook::nothing:
      draw_dashed(list, box, hue);
      break;
  }
}

namespace {

Box place_of(const Chart& chart, const TimelineStretch& x, const Box& row) {
  return {{chart.x_of(x.from), row.min.y + row.height() * x.top},
          {chart.x_of(x.to), row.min.y + row.height() * x.bottom}};
}

// Those of a row that are in sight.
template <class Each>
void each_in_sight(const Chart& chart, const TimelineRow& row, Each each) {
  for (const TimelineStretch& x : row.stretches) {
    if (x.to < chart.scene.from) continue;
    if (x.from > chart.scene.to) break;
    each(x);
  }
}

}  // namespace

void draw_row(ImDrawList* list, const Chart& chart, const TimelineRow& row, const Box& place) {
  const Style& s = style();
  float joined_from = 0, joined_to = -1;
  const auto flush = [&] {
    if (joined_to > joined_from)
      list->AddRectFilled({joined_from, place.min.y}, {std::max(joined_to, joined_from + 1), place.max.y},
                          faded(colour(s.theme, Token::dim), 0.45F));
    joined_to = -1;
  };
  list->PushClipRect(place.min, place.max, true);
  each_in_sight(chart, row, [&](const TimelineStretch& x) {
    const Box box = place_of(chart, x, place);
    if (box.width() < kNarrowest && x.look == StretchLook::nothing) return;
    if (box.width() < kNarrowest && x.look != StretchLook::read && x.look != StretchLook::landed) {
      if (joined_to >= box.min.x - 1)
        joined_to = box.max.x;
      else
        flush(), joined_from = box.min.x, joined_to = box.max.x;
      return;
    }
    draw_stretch(list, chart.scene, x, box);
  });
  flush();
  list->PopClipRect();
}

void draw_row_letters(ImDrawList* list, const Chart& chart, const TimelineRow& row, const Box& place) {
  const Style& s = style();
  const ImU32 card = colour(s.theme, Token::card), text = colour(s.theme, Token::text);
  list->PushClipRect(place.min, place.max, true);
  each_in_sight(chart, row, [&](const TimelineStretch& x) {
    const Box box = place_of(chart, x, place);
    if (box.width() < kNarrowest) return;
    const bool pale = strength(chart.scene, x) < 1, over = chart.scene.with_path;
    if (x.look == StretchLook::work)
      draw_letter(list, box, x, pale ? text : text_on(colour_of(x.ink)), over && !pale ? colour_of(x.ink) : 0);
    if (x.look == StretchLook::wait) draw_letter(list, box, x, faded(text, pale ? 0.7F : 1), over ? card : 0);
  });
  list->PopClipRect();
}

void draw_labels(ImDrawList* list, const Chart& chart, float left) {
  const Style& s = style();
  for (std::size_t n = 0; n < chart.rows.size(); ++n) {
    const TimelineRow& row = chart.scene.rows[n];
    const Box box{{left, chart.rows[n].min.y}, {chart.plot.min.x - s.px(8), chart.rows[n].max.y}};
    draw_text_in(list, box, Align::left, Face::text, 12, colour(s.theme, Token::text),
                 fitted_text(Face::text, 12, row.label, box.width()));
  }
}

const TimelineStretch* under_pointer(const Chart& chart, ImVec2 at) {
  for (std::size_t n = 0; n < chart.rows.size(); ++n) {
    const Box& row = chart.rows[n];
    if (at.y < row.min.y || at.y >= row.max.y) continue;
    return stretch_at(chart.scene.rows[n], chart.clock_of(at.x), (at.y - row.min.y) / row.height());
  }
  return nullptr;
}

const ReleaseArrow* release_of(const PipelineScene& scene, const TimelineStretch& wait) {
  for (const ReleaseArrow& a : scene.releases) {
    const std::vector<TimelineStretch>& row = scene.rows[a.row].stretches;
    if (a.from == wait.from && &wait >= row.data() && &wait < row.data() + row.size()) return &a;
  }
  return nullptr;
}

// From the edge of the one row to the near edge of the other.
void draw_release(ImDrawList* list, const Chart& chart, const ReleaseArrow& a, ImU32 ink) {
  const Style& s = style();
  if (a.to < chart.scene.from || a.at > chart.scene.to || a.by_row == a.row) return;
  const Box &from = chart.rows[a.by_row], &to = chart.rows[a.row];
  const bool down = from.centre().y < to.centre().y;
  const float high = s.px(5), half = s.px(3), way = down ? -high : high;
  const ImVec2 begin{chart.x_of(a.at), down ? from.max.y : from.min.y};
  const ImVec2 tip{chart.x_of(a.to), down ? to.min.y + to.height() * kWaitTop : to.max.y};
  list->PushClipRect(chart.plot.min, chart.plot.max, true);
  list->AddLine(begin, {tip.x, tip.y + way}, ink, s.px(1));
  list->AddTriangleFilled(tip, {tip.x - half, tip.y + way}, {tip.x + half, tip.y + way}, ink);
  list->PopClipRect();
}

void draw_releases(ImDrawList* list, const Chart& chart) {
  if (chart.scene.follow < 0) return;
  for (const ReleaseArrow& a : chart.scene.releases)
    if (a.tile == chart.scene.follow) draw_release(list, chart, a, colour(style().theme, Token::dim));
}

void draw_idle(ImDrawList* list, const Chart& chart) {
  const Style& s = style();
  float top = 0, bottom = 0;
  for (std::size_t n = 0; n < chart.rows.size(); ++n) {
    if (!chart.scene.rows[n].of_products) continue;
    if (bottom <= 0) top = chart.rows[n].min.y;
    bottom = chart.rows[n].max.y;
  }
  if (bottom <= top) return;
  list->PushClipRect({chart.plot.min.x, top - s.px(2)}, {chart.plot.max.x, bottom + s.px(2)}, true);
  for (const auto& [from, to] : chart.scene.idle) {
    const Box box{{chart.x_of(from), top}, {chart.x_of(to), bottom}};
    if (box.width() < s.px(kLeastIdle) || to < chart.scene.from || from > chart.scene.to) continue;
    draw_outline(list, box, faded(colour(s.theme, Token::dim), 0.75F), s.px(1), 3);
  }
  list->PopClipRect();
}

}  // namespace attn
