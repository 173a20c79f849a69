#include "viz/step/timeline/pipeline_draw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/timeline/pipeline_note_draw.h"

namespace attn {
namespace {

constexpr float kLeastNames = 84, kNameGap = 6, kNamePitch = 13, kLeastName = 11;  // logical
constexpr float kLettered = 13, kBetweenRows = 2, kKnob = 4;

// Slots have letters where that leaves consumers theirs; else consumers alone.
struct LaneHeights {
  float producer = 8, consumer = 20, slot = kLettered;  // logical
  float of(const LaneRow& row) const { return row.consumer ? consumer : row.slot ? slot : producer; }
};
LaneHeights lane_heights(std::span<const LaneRow> rows, float room) {
  constexpr float kGoodConsumer = 18, kMostSlot = 18, kLowSlot = 0.55F;  // of a consumer's
  float consumers = 0, slots = 0, others = 0;
  for (const LaneRow& row : rows) (row.consumer ? consumers : row.slot ? slots : others) += 1;
  room -= kBetweenRows * static_cast<float>(rows.size());
  LaneHeights h;
  const float left = room - others * h.producer;
  const float slot = (left - consumers * kGoodConsumer) / std::max(slots, 1.0F);
  if (slot >= kLettered) {
    h.slot = std::min(slot, kMostSlot);
    h.consumer = (left - slots * h.slot) / std::max(consumers, 1.0F);
    return h;
  }
  h.consumer = std::max(1.0F, room / (consumers + (slots + others) * kLowSlot));
  if (h.consumer < kLettered && room > consumers * kLettered) h.consumer = kLettered;
  h.slot = h.producer = std::max(1.0F, (room - consumers * h.consumer) / std::max(slots + others, 1.0F));
  return h;
}

// The name of a row, or of several that are too low for one each.
struct LaneName {
  std::string words;
  float size = kLeastName, middle = 0;
  bool live = false;
};

bool alike(const LaneRow& a, const LaneRow& b) {
  return a.slot == b.slot && a.consumer == b.consumer;
}

std::string name_of(std::span<const LaneRow> rows) {
  if (rows.size() == 1) return rows[0].label;
  return rows[0].slot ? phrase("slots 0 to {}", rows.size() - 1) : phrase("consumers 0 to {}", rows.size() - 1);
}

std::vector<LaneName> lane_names(std::span<const LaneRow> rows, const LaneHeights& heights, float top) {
  const Style& s = style();
  std::vector<LaneName> names;
  for (std::size_t n = 0, count = 1; n < rows.size(); n += count) {
    const float pitch = heights.of(rows[n]) + kBetweenRows;
    const bool together = (rows[n].slot || rows[n].consumer) && pitch < kNamePitch;
    for (count = 1; together && n + count < rows.size() && alike(rows[n], rows[n + count]);) ++count;
    const auto named = rows.subspan(n, count);
    const float height = s.px(pitch * static_cast<float>(count));
    names.push_back({name_of(named), rows[n].consumer ? 12 : kLeastName, top + (height - s.px(kBetweenRows)) / 2,
                     std::ranges::any_of(named, [](const LaneRow& row) { return row.live; })});
    top += height;
  }
  return names;
}

// None on another: pushed down, then back up from the bottom. Where there is no room for all, this step's lane keeps
// its name.
void push_apart(std::vector<LaneName>& names, float top, float bottom) {
  const float pitch = style().px(kNamePitch);
  const auto most = static_cast<std::size_t>(std::max(1.0F, (bottom - top) / pitch));
  while (names.size() > most) names.erase(std::ranges::find(names, false, &LaneName::live));
  float least = top + pitch / 2, lowest = bottom - pitch / 2;
  for (LaneName& name : names) name.middle = std::max(name.middle, least), least = name.middle + pitch;
  for (std::size_t n = names.size(); n-- > 0; lowest = names[n].middle - pitch)
    names[n].middle = std::min(names[n].middle, lowest);
}

// Wide enough for the names, whichever lane is this step's.
float names_width(std::span<const LaneName> names) {
  float widest = style().px(kLeastNames);
  for (const LaneName& name : names)
    widest = std::max(widest, text_width(Face::bold, name.size, name.words) + style().px(kNameGap));
  return widest;
}

void draw_names(ImDrawList* list, float right, std::span<const LaneName> names) {
  const float half = style().px(kNamePitch) / 2;
  for (const LaneName& name : names)
    draw_text_in(list, {{right - 1, name.middle - half}, {right, name.middle + half}}, Align::right,
                 name.live ? Face::bold : Face::text, name.size, colour_of(name.live ? Token::text : Token::dim),
                 name.words);
}

struct LaneAxis {
  const PipelineView& view;
  Box plot;
  float x_of(std::int32_t clock) const {
    return plot.min.x + plot.width() * static_cast<float>(clock) / static_cast<float>(view.length);
  }
  std::int32_t clock_of(float x) const {
    const float share = std::clamp((x - plot.min.x) / std::max(plot.width(), 1.0F), 0.0F, 1.0F);
    return static_cast<std::int32_t>(std::lround(share * static_cast<float>(view.length)));
  }
};

// With its tile's number or not at all; no taller than its bar, and clear of the line at `now`.
void draw_span_letter(ImDrawList* list, const Box& box, const LaneSpan& span, ImU32 ink, float now,
                      bool patched = false) {
  if (span.letter.empty() || box.height() < style().px(kLettered) - 0.5F) return;
  constexpr float kSize = 12, kIndex = 10, kLower = 1.5F;
  const std::string index = span.tile >= 0 ? fmt::format("{}", span.tile) : "";
  const float letter = text_width(Face::maths, kSize, span.letter);
  const float own = letter + text_width(Face::text, kIndex, index);
  const float wide = own + style().px(2), gap = style().px(2);
  // In the wider part beside the line.
  Box part = box;
  if (now > box.min.x - gap && now < box.max.x + gap)
    (now - box.min.x > box.max.x - now ? part.max.x : part.min.x) =
        now - box.min.x > box.max.x - now ? now - gap : now + gap;
  if (wide > part.width()) return;
  const float middle = part.centre().x, half = wide / 2;
  if (patched)  // on hatching
    list->AddRectFilled({middle - half - style().px(1), part.min.y + style().px(1)},
                        {middle + half + style().px(1), part.max.y - style().px(1)}, colour_of(Token::card),
                        style().px(2));
  const float left = middle - own / 2, lower = style().px(kLower);
  draw_text_in(list, {{left, part.min.y}, {left + letter, part.max.y}}, Align::left, Face::maths, kSize, ink,
               span.letter);
  draw_text_in(list, {{left + letter, part.min.y + lower}, {left + own, part.max.y + lower}}, Align::left, Face::text,
               kIndex, ink, index);
}

void draw_span(ImDrawList* list, const Box& row, const LaneAxis& axis, const LaneSpan& span, bool past) {
  const Style& s = style();
  Box box{{axis.x_of(span.from), row.min.y}, {std::max(axis.x_of(span.to), axis.x_of(span.from) + 1), row.max.y}};
  const float strength = past ? 1.0F : 0.35F;
  const ImU32 hue = faded(colour_of(span.ink), strength);
  switch (span.look) {
    case SpanLook::work:
    case SpanLook::read:
      list->AddRectFilled(box.min, box.max, hue, s.px(1));
      draw_span_letter(list, box, span, past ? text_on(colour_of(span.ink)) : colour_of(Token::text),
                       axis.x_of(axis.view.now));
      break;
    case SpanLook::wait:
      box.min.y = row.min.y + row.height() * 0.5F;
      if (box.width() > s.px(2)) draw_outline(list, box, hue, 1, 1);
      break;
    case SpanLook::flight:
      draw_hatch(list, box, faded(hue, 0.65F), 4);
      draw_outline(list, box, hue, 1, 1);
      draw_span_letter(list, box, span, colour_of(Token::text), axis.x_of(axis.view.now), true);
      break;
    case SpanLook::landed:
      list->AddRectFilled(box.min, box.max, faded(hue, 0.28F));
      break;
    case SpanLook::left_out:
      box.min.y = box.max.y = row.centre().y;
      draw_dashed_line(list, box.min, box.max, colour_of(Token::faint), 3);
      break;
  }
}

// Nanoseconds since the block began, in steps that leave room between them.
void draw_axis(ImDrawList* list, const LaneAxis& axis) {
  const Style& s = style();
  constexpr std::array kSteps{100, 200, 500, 1000, 2000, 5000, 10000};
  const double whole = axis.view.length * axis.view.ns_a_clock;
  const auto step = std::ranges::find_if(kSteps, [&](int ns) {
    return static_cast<double>(axis.plot.width()) * ns / whole >= static_cast<double>(s.px(64));
  });
  const int every = step == kSteps.end() ? kSteps.back() : *step;
  for (int ns = 0; ns <= static_cast<int>(whole); ns += every) {
    const float x = axis.x_of(static_cast<std::int32_t>(ns / axis.view.ns_a_clock));
    const std::string text = ns == 0 ? tr("0 ns") : fmt::format("{}", ns);
    const float half = text_width(Face::mono, 10, text) / 2, left = x - (ns == 0 ? 0 : half);
    draw_text(list, {left, axis.plot.max.y + s.px(1)}, Face::mono, 10, colour_of(Token::dim), text);
  }
}

// "consumer 0: waits for K1, 560 ns; from 3210 ns on".
std::string span_words(const PipelineView& view, const LaneRow& row, const LaneSpan& span) {
  const auto ns = [&](std::int32_t clocks) { return clocks * view.ns_a_clock; };
  const std::string what = span.tile >= 0 ? fmt::format("{}{}", span.letter, span.tile) : span.letter;
  const auto said = [&]() -> std::string {
    switch (span.look) {
      case SpanLook::work:
        return what.empty() ? tr("its instructions run") : phrase("{}: its instructions run", what);
      case SpanLook::wait:
        return what.empty() ? tr("waits for its turn") : phrase("waits for {}", what);
      case SpanLook::flight:
        return phrase("{} in flight, at most this long", what);
      case SpanLook::landed:
        return tr("landed, nobody reads it yet");
      case SpanLook::read:
        return phrase("{} is read", what);
      case SpanLook::left_out:
        return tr("left out");
    }
    return {};
  };
  return phrase("{}: {}\n{:.0f} ns, from {:.0f} ns on", row.label, said(), ns(span.to - span.from), ns(span.from));
}

}  // namespace

void draw_pipeline_lanes(const Box& box, const PipelineView& view, bool future, Commands& commands) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  constexpr float kClock = 13;  // logical: under the lanes
  const float under = box.max.y - s.px(kClock);
  const LaneHeights heights = lane_heights(view.rows, (under - box.min.y) / s.scale);
  std::vector<LaneName> names = lane_names(view.rows, heights, box.min.y);
  const LaneAxis axis{view, {{box.min.x + names_width(names), box.min.y}, {box.max.x, under}}};
  push_apart(names, box.min.y - s.px(4), view.note.derived.empty() ? box.max.y : under);
  draw_names(list, axis.plot.min.x - s.px(kNameGap), names);
  float y = box.min.y;
  const ImVec2 pointer = ImGui::GetMousePos();
  std::string pointed;
  for (const LaneRow& row : view.rows) {
    const Box place{{axis.plot.min.x, y}, {axis.plot.max.x, y + s.px(heights.of(row))}};
    y = place.max.y + s.px(kBetweenRows);
    for (LaneSpan span : row.spans) {
      if (!future && span.from > view.now) break;
      if (!future) span.to = std::min(span.to, view.now);
      draw_span(list, place, axis, span, span.from <= view.now);
      if (place.contains(pointer) && pointer.x >= axis.x_of(span.from) && pointer.x < axis.x_of(span.to))
        pointed = span_words(view, row, span);
    }
  }
  draw_axis(list, axis);
  if (!view.note.derived.empty()) draw_derived(list, {box.min.x, axis.plot.max.y - s.px(1)}, 11);
  const float x = axis.x_of(view.now);
  list->AddLine({x, box.min.y}, {x, axis.plot.max.y}, colour_of(Token::text), std::max(1.0F, s.px(1.5F)));
  // Above the lanes, so that it stands on no number of the axis.
  list->AddCircleFilled({x, box.min.y - s.px(kKnob)}, s.px(kKnob), colour_of(Token::text));
  ImGui::SetCursorScreenPos(axis.plot.min);
  ImGui::InvisibleButton("##step_lanes", {axis.plot.width(), box.max.y - axis.plot.min.y});
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive() && !pointed.empty()) show_tooltip(pointed, 320, true);
  if (!ImGui::IsItemActive()) return;
  const EventIndex to = step_at(view, axis.clock_of(ImGui::GetMousePos().x));
  if (view.moments.at(to - view.first) != view.now) commands.push_back(GoToEvent{to});
}

}  // namespace attn
