#include "viz/profile/timeline/rows_draw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/profile/timeline/scene/key_entries.h"
#include "viz/profile/timeline/scene/row_heights.h"

namespace attn {
namespace {

constexpr float kLeastIdle = 4;  // logical pixels
constexpr float kOthers = 0.4F;  // what is not of the tile that is followed
// Logical pixels: a stretch has a letter from here on, a wait its time; of a letter from its middle to its edge.
constexpr float kLettered = 7, kTimed = 60, kHalfLetter = 6;
constexpr float kTopLetter = 4.5F,
                kPathClear = 1.5F;                 // logical pixels: to a letter's top, from the path's middle to it
constexpr float kNamedSlot = 12;                   // logical pixels
constexpr float kGoodLettered = 17, kPillTop = 2;  // logical pixels: lower slots have smaller letters
constexpr float kLeastAbove = 8;   // logical pixels: a wait too low for its letter has it in the free room above
constexpr std::size_t kStray = 5;  // fewer than one in so many has room for a letter: then none has one

// Nanoseconds, as the key says; microseconds where those are many digits.
std::string wait_text(const PipelineScene& scene, std::int64_t clocks) {
  const double ns = static_cast<double>(clocks) * scene.ns_a_clock;
  return ns < 10000 ? fmt::format("{:.0f}", ns) : time_text(ns);
}

float strength(const PipelineScene& scene, const TimelineStretch& x) {
  return scene.follow < 0 || x.tile == scene.follow ? 1 : kOthers;
}

using Taken = std::vector<std::pair<float, float>>;  // parts of a box in which no letter stands

struct LetterRun {
  Face face;
  float size, lower;  // logical pixels
  std::string words;
};

// Letter and key tile, and of a wait how long it takes where there is room for that too beside what crosses the box.
void draw_letter(ImDrawList* list, const Box& box, const TimelineStretch& x, ImU32 ink, const Taken& taken,
                 const std::string& time, bool patched) {
  const Style& s = style();
  if (x.letter.empty()) return;
  const bool word = x.letter.size() > 1;  // of what is no tensor
  const bool above = x.look == StretchLook::wait && box.height() < s.px(kLeastLettered) - 0.5F;
  if (box.height() < s.px(above ? kLeastAbove : kLeastLettered) - 0.5F) return;
  const bool low = box.height() < s.px(20), small = above || (patched && box.height() < s.px(kGoodLettered));
  std::vector<LetterRun> runs{{word ? Face::text : Face::maths, word || small ? 11.0F : 13.0F, 0, x.letter}};
  if (x.tile >= 0 && !word)
    runs.push_back({Face::mono, 10, small ? 0.0F : low ? 1.0F : 2.0F, fmt::format("{}", x.tile)});
  if (!time.empty()) runs.push_back({Face::mono, 10, 0, " " + time});
  // In the middle of what is in sight.
  const float from = std::max(box.min.x, list->GetClipRectMin().x) + s.px(1.5F);
  const float to = std::min(box.max.x, list->GetClipRectMax().x) - s.px(1.5F);
  const std::size_t least = time.empty() ? runs.size() : runs.size() - 1;
  for (; runs.size() >= least && !runs.empty(); runs.pop_back()) {
    float wide = 0;
    for (const LetterRun& run : runs) wide += text_width(run.face, run.size, run.words) + s.px(0.5F);
    const auto left = place_beside(from, to, taken, wide + (patched ? s.px(6) : 0), s.px(3));
    if (!left) continue;
    float at = *left + (patched ? s.px(3) : 0);
    // Between the path, which runs at a slot's top, and its lower edge.
    const Box pill{{at - s.px(3), box.min.y + s.px(kPillTop)}, {at + wide + s.px(3), box.max.y - s.px(1)}};
    const float top = patched ? pill.min.y : box.min.y, bottom = patched ? pill.max.y : box.max.y;
    if (patched) list->AddRectFilled(pill.min, pill.max, colour(s.theme, Token::card), s.px(3));
    for (const LetterRun& run : runs) {
      const float right = at + text_width(run.face, run.size, run.words), down = s.px(run.lower);
      draw_text_in(list, {{at, top + down}, {right, bottom + down}}, Align::left, run.face, run.size, ink, run.words);
      at = right + s.px(0.5F);
    }
    return;
  }
}

}  // namespace

void draw_joined(ImDrawList* list, const Box& box) {
  const Style& s = style();
  const ImU32 ink = colour(s.theme, Token::dim);
  list->AddRectFilled(box.min, box.max, faded(ink, 0.2F));
  const float line = std::max(1.0F, std::floor(s.px(1))), step = 3 * line;
  for (float x = std::ceil(box.min.x); x < box.max.x; x += step)
    list->AddRectFilled({x, box.min.y}, {std::min(x + line, box.max.x), box.max.y}, faded(ink, 0.65F));
}

void draw_stretch(ImDrawList* list, const PipelineScene& scene, const TimelineStretch& x, const Box& box) {
  const Style& s = style();
  const float strong = strength(scene, x);
  const ImU32 hue = faded(colour_of(x.ink), strong);
  switch (x.look) {
    case StretchLook::work:
      list->AddRectFilled(box.min, box.max, hue, s.px(1));
      break;
    case StretchLook::wait:
      draw_outline(list, box, faded(hue, 0.85F), 1, 1);
      break;
    case StretchLook::flight:
      draw_hatch(list, box, faded(hue, 0.65F), 5);
      draw_outline(list, box, hue, 1, 1);
      break;
    case StretchLook::landed:
      list->AddRectFilled(box.min, box.max, faded(hue, 0.28F));
      draw_outline(list, box, faded(hue, 0.75F), 1, 1);
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

// What a lane does or waits for, and what lies in a slot or is on its way there.
bool has_letter(const TimelineRow& row, const TimelineStretch& x) {
  if (row.kind == RowKind::slot) return x.look == StretchLook::flight || x.look == StretchLook::landed;
  return x.look == StretchLook::work || x.look == StretchLook::wait;
}

// Between where its consumers begin and end to read it: no letter hides that.
Box beside_reads(const Chart& chart, const TimelineRow& row, const TimelineStretch& use, Box box) {
  std::vector<std::int64_t> edges;
  for (const TimelineStretch& x : row.stretches)
    if (x.look == StretchLook::read && x.from >= use.from && x.to <= use.to) edges.insert(edges.end(), {x.from, x.to});
  const auto [from, to] = widest_part(use.from, use.to, std::move(edges));
  box.min.x = chart.x_of(from), box.max.x = chart.x_of(to);
  return box;
}

// The room over a low wait, below the path.
Box above_wait(const Chart& chart, const TimelineRow& row, Box wait, const Box& place) {
  constexpr float kHalfPath = 2, kAir = 2;  // logical pixels
  wait.max.y = std::floor(wait.min.y - style().px(kAir));
  wait.min.y = std::floor(place.min.y - style().px(kAir));
  if (chart.scene.with_path && row.on_path) wait.min.y += place.height() * row.path_at + style().px(kHalfPath);
  return wait;
}

}  // namespace

namespace {

// What crosses letters whose middle is at that height, or, `above` them, runs along their tops: a slot's patch is below
// the path.
Taken taken_of(const Chart& chart, float middle, bool above) {
  const Style& s = style();
  const float half = s.px(kHalfLetter);
  Taken taken;
  if (above) taken = level_parts(chart.path, middle - s.px(kTopLetter + kPathClear), middle + half);
  for (const auto& lines : {chart.path, chart.arrows})
    for (const float at : crossings(lines, middle - half, middle + half)) taken.emplace_back(at, at);
  for (const ChartMoment& moment : chart.moments) taken.emplace_back(moment.x, moment.x);
  return taken;
}

}  // namespace

void draw_row(ImDrawList* list, const Chart& chart, const TimelineRow& row, const Box& place) {
  float joined_from = 0, joined_to = -1;
  const auto flush = [&] {
    if (joined_to > joined_from)
      draw_joined(list, {{joined_from, place.min.y}, {std::max(joined_to, joined_from + 1), place.max.y}});
    joined_to = -1;
  };
  list->PushClipRect(place.min, place.max, true);
  each_in_sight(chart, row, [&](const TimelineStretch& x) {
    const Box box = place_of(chart, x, place);
    if (box.width() < kNarrowestStretch && x.look == StretchLook::nothing) return;
    if (box.width() < kNarrowestStretch && x.look != StretchLook::read && x.look != StretchLook::landed) {
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
  const ImU32 text = colour(s.theme, Token::text);
  std::size_t all = 0, wide = 0;
  each_in_sight(chart, row, [&](const TimelineStretch& x) {
    if (!has_letter(row, x)) return;
    ++all;
    wide += place_of(chart, x, place).width() >= s.px(kLettered);
  });
  if (wide * kStray < all) return;
  list->PushClipRect(place.min, place.max, true);
  each_in_sight(chart, row, [&](const TimelineStretch& x) {
    Box box = place_of(chart, x, place);
    if (box.width() < s.px(kLettered) || !has_letter(row, x)) return;
    if (x.look == StretchLook::landed) box = beside_reads(chart, row, x, box);
    if (x.look == StretchLook::wait && box.height() < s.px(kLeastLettered) - 0.5F)
      box = above_wait(chart, row, box, place);
    const bool pale = strength(chart.scene, x) < 1, waits = x.look == StretchLook::wait;
    const bool held = row.kind == RowKind::slot;
    const Taken taken = taken_of(chart, box.centre().y, !held);
    const ImU32 ink = held            ? pale ? colour(s.theme, Token::dim) : colour_of(x.ink)
                                 : pale || waits ? faded(text, pale && waits ? 0.7F : 1)
                                      : text_on(colour_of(x.ink));
    draw_letter(list, box, x, ink, taken,
                waits && box.width() >= s.px(kTimed) ? wait_text(chart.scene, x.to - x.from) : "", held);
  });
  list->PopClipRect();
}

void draw_labels(ImDrawList* list, const Chart& chart, float left) {
  const Style& s = style();
  const auto slot = [&](std::size_t n) { return n < chart.rows.size() && chart.scene.rows[n].kind == RowKind::slot; };
  for (std::size_t n = 0, count = 1; n < chart.rows.size(); n += count) {
    // Slots too low for a name each have one together.
    for (count = 1; slot(n) && chart.rows[n].height() < s.px(kNamedSlot) && slot(n + count);) ++count;
    if (chart.rows[n].height() <= 0) continue;
    const std::string words = count == 1 ? chart.scene.rows[n].label : phrase("ring, slots 0 to {}", count - 1);
    const Box box{{left, chart.rows[n].min.y}, {chart.plot.min.x - s.px(8), chart.rows[n + count - 1].max.y}};
    draw_text_in(list, box, Align::left, Face::text, 12, colour(s.theme, Token::text),
                 fitted_text(Face::text, 12, words, box.width()));
  }
}

const TimelineStretch* under_pointer(const Chart& chart, ImVec2 at, const TimelineRow** under) {
  for (std::size_t n = 0; n < chart.rows.size(); ++n) {
    const Box& row = chart.rows[n];
    if (at.y < row.min.y || at.y >= row.max.y) continue;
    if (under != nullptr) *under = &chart.scene.rows[n];
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

void draw_release(ImDrawList* list, const Chart& chart, const ReleaseArrow& a, ImU32 ink) {
  const Style& s = style();
  std::vector<RowPlace> places;
  places.reserve(chart.rows.size());
  for (const Box& row : chart.rows) places.push_back({row.min.y, row.max.y});
  const std::vector<PathLine> lines = arrow_lines(chart.scene, a, chart.axis(), places);
  if (lines.empty()) return;
  list->PushClipRect(chart.plot.min, chart.plot.max, true);
  for (const PathLine& l : lines) list->AddLine({l.x0, l.y0}, {l.x1, l.y1}, ink, s.px(1));
  const PathLine& head = lines.back();
  const float half = s.px(3), way = head.y1 > head.y0 ? -s.px(5) : s.px(5);
  const ImVec2 tip{head.x1, head.y1};
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
    if (chart.scene.rows[n].kind != RowKind::products) continue;
    if (bottom <= 0) top = chart.rows[n].min.y;
    bottom = chart.rows[n].max.y;
  }
  if (bottom <= top) return;
  list->PushClipRect({chart.plot.min.x, top - s.px(2)}, {chart.plot.max.x, bottom + s.px(2)}, true);
  for (const auto& [from, to] : chart.scene.idle) {
    const Box box{{chart.x_of(from), top}, {chart.x_of(to), bottom}};
    if (box.width() < s.px(kLeastIdle) || to < chart.scene.from || from > chart.scene.to) continue;
    draw_outline(list, box, faded(colour(s.theme, Token::dim), 0.75F), 1, 3);
  }
  list->PopClipRect();
}

}  // namespace attn
