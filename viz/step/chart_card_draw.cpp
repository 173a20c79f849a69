#include "viz/step/chart_card_draw.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "imgui.h"
#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/text_fit.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/areas_draw.h"
#include "viz/step/bars/bars_draw.h"
#include "viz/step/charts/chart_card.h"
#include "viz/step/charts/traffic_draw.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/step_cache.h"
#include "viz/step/step_ui_state.h"
#include "viz/step/timeline/heads_draw.h"
#include "viz/step/timeline/map_draw.h"
#include "viz/step/timeline/timeline_draw.h"
#include "viz/step/timeline/transport_draw.h"

namespace attn {
namespace {

StepChart shown_of(const ChartCard& card) {
  return shown_chart(card.state.view.step.chart, card.beside_row, card.rec);
}

// The tabs on the card's first line, and on a second where a phone has no room; the chosen one is bold and underlined.
// Returns where the chart begins.
float draw_tabs(const ChartCard& card, const Box& in) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::vector<ChartTab> tabs = chart_tabs(card.at.row, card.rec);
  float wide = 0;
  const StepChart shown = shown_of(card);
  for (const ChartTab& tab : tabs) wide += text_width(Face::bold, 14, tab.words) + s.px(20);
  const bool narrow = wide > in.width();
  const float line = s.px(by_touch() ? kFinger : 26);
  float x = in.min.x, y = in.min.y + (line - s.px(26)) / 2;
  for (const ChartTab& tab : tabs) {
    if (card.beside_row && tab.chart == StepChart::row) continue;
    const bool chosen = shown == tab.chart;
    const std::string& words = narrow ? tab.narrow : tab.words;
    const float width = text_width(Face::bold, 14, words);
    const float gap = std::max(s.px(20), s.px(kFinger) * static_cast<float>(by_touch()) - width);
    if (x > in.min.x && x + width > in.max.x) {
      x = in.min.x;
      y += line;
    }
    const float side = gap / 2 - s.px(by_touch() ? 0 : 4);
    const Box box{{x - side, y + s.px(7.5F) - line / 2}, {x + width + side, y + s.px(7.5F) + line / 2}};
    ImGui::SetCursorScreenPos(box.min);
    const std::string id = fmt::format("##chart_{}", name_of(tab.chart));
    if (ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav))
      card.commands.emplace_back(ChooseStepChart{tab.chart});
    const bool warm = ImGui::IsItemHovered();
    tooltip(std::string(tab.what));
    draw_text(list, {x, y}, chosen ? Face::bold : Face::text, 14, colour_of(chosen || warm ? Token::text : Token::dim),
              words);
    if (chosen) list->AddRectFilled({x, y + s.px(19)}, {x + width, y + s.px(20.5F)}, colour_of(Token::text));
    x += width + gap;
  }
  return y + s.px(28);
}

void draw_row_card(const ChartCard& card, const Box& box) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const Box in{{box.min.x + s.px(16), box.min.y + s.px(12)}, {box.max.x - s.px(16), box.max.y - s.px(12)}};
  draw_text(list, in.min, Face::bold, 14, colour_of(Token::text), chart_tabs(card.at.row).front().words);
  draw_chart(StepChart::row, card, {{in.min.x, in.min.y + s.px(28)}, in.max});
}

// Below the chip, as wide as charts are; `all`: of the window.
bool begin_charts_popup(const Box& chip, const Box& strip, const Box& all, ImVec2 size, float room) {
  const Style& s = style();
  const ImVec2 below{all.max.x - s.px(12), strip.max.y + s.px(6)};
  if (!begin_folded("##charts_popup", below, {1, 0}, size, room)) return false;
  let_clicks_through(chip);
  return true;
}

void draw_charts_popup(const ChartCard& card, const Box& chip, const Box& strip, const Box& all, float bottom,
                       bool both) {
  const Style& s = style();
  const float room = bottom - strip.max.y - s.px(12), wide = std::min(all.width() - s.px(24), s.px(860));
  // Where both have no room at once they are scrolled.
  const float chart = std::min(room - s.px(24), std::clamp(room - s.px(24 + kStepGutter + 150), s.px(160), s.px(220)));
  const float traffic = std::clamp(room - chart - s.px(36), s.px(150), s.px(190));
  const float height = chart + (both ? traffic + s.px(kStepGutter) : 0);
  if (!begin_charts_popup(chip, strip, all, {wide, height + s.px(24)}, room)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x;
  draw_chart_card(card, {at, {right, at.y + chart}});
  if (both)
    draw_traffic_card(ImGui::GetWindowDrawList(), {{at.x, at.y + chart + s.px(kStepGutter)}, {right, at.y + height}},
                      traffic_scene(card.rec, card.at.event, card.cache.traffic), card.rec, card.at.event);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({right - at.x, height});
  end_folded();
}

// The card that an order has in place of charts.
void draw_card_popup(const SideBySideView& view, const Box& chip, const Box& strip, const Box& all, float bottom) {
  const Style& s = style();
  const SideBySide& way = side_by_side_of(view.rec);
  const float room = bottom - strip.max.y - s.px(12), wide = all.width() - s.px(24), pads = s.px(24);
  const float height = s.px(way.card_height(view.rec, (wide - pads) / s.scale, (room - pads) / s.scale));
  if (!begin_charts_popup(chip, strip, all, {wide, height + pads}, room)) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x;
  way.card(view, {at, {right, at.y + height}});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({right - at.x, height});
  end_folded();
}

}  // namespace

std::string charts_chip_words(const Recording& rec) {
  return side_by_side_of(rec).card != nullptr ? tr("Loops") : tr("Charts");
}

void draw_charts_chip(const ChartCard& card, const SideBySideView& view, const Box& strip, const Box& all,
                      float bottom) {
  Box box;
  if (chip_button("##charts_chip", charts_chip_words(view.rec), {strip.max.x, strip.min.y + chip_top(strip)}, box))
    ImGui::OpenPopup("##charts_popup");
  if (side_by_side_of(view.rec).card != nullptr) return draw_card_popup(view, box, strip, all, bottom);
  draw_charts_popup(card, box, strip, all, bottom, !view.ui.hidden.traffic);
}

void draw_chart_card(const ChartCard& card, const Box& box) {
  if (card.answer_hidden) return draw_row_card(card, box);
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool alone = card.state.view.step.chart == StepChart::fragments;
  const bool wide = shows_wide_chart(card.state, card.rec);
  const float two = wide ? kSentenceAndRow : kTwoCharts;
  if (!alone && !card.beside_row && has_more_charts(card.rec.order) && box.width() >= s.px(two)) {
    const float middle = wide ? box.max.x - std::min(box.width() * 0.38F, s.px(620)) : box.centre().x;
    const Box left{box.min, {middle - s.px(6), box.max.y}}, right{{middle + s.px(6), box.min.y}, box.max};
    draw_row_card(card, wide ? right : left);
    ChartCard other = card;
    other.beside_row = true;
    draw_chart_card(other, wide ? left : right);
    return;
  }
  draw_card(list, box);
  Box in{{box.min.x + s.px(16), box.min.y + s.px(12)}, {box.max.x - s.px(16), box.max.y - s.px(12)}};
  in.min.y = draw_tabs(card, in);
  draw_chart(shown_of(card), card, in);
}

// ---- the timeline

namespace {

DragPlace drag_place(const Box& box) {
  return {box.min.x, box.min.y, box.max.x, box.max.y};
}

// What the timeline has no room for in a low window, or between a phone's edges.
void draw_more_popup(const Box& chip, const SideBySideView& view, const TimelineScene& scene, bool map) {
  const Style& s = style();
  constexpr float kWidth = 300, kPad = 12, kLine = 36, kMap = 84;
  const float marks = transport_marks_height(), height = marks + kPad + kLine + (map ? kPad + kMap : 0);
  const ImVec2 size{s.px(kWidth + 2 * kPad), s.px(height + 2 * kPad)};
  const auto corner = begin_folded("##timeline_more_popup", {chip.min.x, chip.min.y - s.px(6)}, {0, 1}, size);
  if (!corner) return;
  const float left = corner->x + s.px(kPad), right = left + s.px(kWidth);
  float y = corner->y + s.px(kPad);
  draw_transport_marks({{left, y}, {right, y + s.px(marks)}}, view.state, scene, view.commands);
  y += s.px(marks + kPad);
  const Box line{{left + s.px(4), y}, {right - s.px(4), y + s.px(kLine)}};
  draw_scrubber(line, scene, view.commands);
  view.ui.dragged.push_back(drag_place(line.grown(s.px(8))));
  y += s.px(kLine + kPad);
  if (map)
    draw_step_map({{left, y}, {right, y + s.px(kMap)}}, map_scene(view.rec, view.at), view.rec, view.at, view.commands);
  end_folded();
}

void draw_map_and_heads(const SideBySideView& view, const Box& in, float width, float& x) {
  const auto& [rec, at, state, ui, cache, commands] = view;
  const Style& s = style();
  const float map = width >= 1100 ? 190 : 110;
  const Box map_box{{x, in.min.y - s.px(6)}, {x + s.px(map), in.max.y}};
  if (ui.hidden.map)
    draw_veiled_words(ImGui::GetWindowDrawList(), map_box, ui.hidden.map_later);
  else
    draw_step_map(map_box, map_scene(rec, at), rec, at, commands);
  x += s.px(map + 14);
  if (rec.problem.B * rec.problem.Hq <= 1) return;
  const float heads = heads_width(cache.heads);
  draw_head_picker({{x, in.min.y - s.px(4)}, {x + heads, in.max.y + s.px(4)}}, cache.heads, rec, at,
                   state.document.selection, commands);
  x += heads + s.px(18);
}

}  // namespace

void draw_timeline_card(const Box& box, const SideBySideView& view, bool page) {
  constexpr float kBeside = 500, kLanesBeside = 660, kTwoLines = 110, kTrack = 30;  // logical
  const bool low = box.height() < style().px(kTwoLines);
  const float beside = side_by_side_of(view.rec).track != nullptr ? kLanesBeside : kBeside;
  const bool phone =
      (page && (!low || box.width() < style().px(kBeside))) || (by_touch() && !low && box.width() < style().px(beside));
  const auto& [rec, at, state, ui, cache, commands] = view;
  const HiddenAnswers& hidden = ui.hidden;
  const Style& s = style();
  draw_card(ImGui::GetWindowDrawList(), box);
  TimelineScene scene = timeline_scene(rec, at, cache.marks, state.view.step.bookmarks);
  if (hidden.on || hidden.map) hide_after(scene, hidden.on ? hidden.horizon : at.event, hidden.map);
  const float side = s.px(phone ? 10 : 16), above = s.px(phone ? 8 : 12);
  const Box in{{box.min.x + side, box.min.y + above}, {box.max.x - side, box.max.y - s.px(8)}};
  const bool buttons_only = !phone && in.width() < s.px(transport_size(0).width);  // no room beside a track
  const TransportSize size = transport_size(phone || buttons_only ? in.width() / s.scale : 0);
  const Box buttons =
      phone ? Box{{in.min.x, in.max.y - s.px(size.row)}, in.max} : Box{in.min, {in.min.x + s.px(size.width), in.max.y}};
  Box more{};
  if (draw_transport(buttons, state, scene, commands, size, more)) ImGui::OpenPopup("##timeline_more_popup");
  draw_more_popup(more, view, scene, !hidden.map);
  if (buttons_only || (phone && buttons.min.y - in.min.y < s.px(kTrack))) return;
  float x = in.min.x + (phone ? 0 : s.px(size.width + 14));
  const float bottom = phone ? buttons.min.y - s.px(6) : in.max.y, width = box.width() / s.scale;
  if (const auto track = side_by_side_of(rec).track) return track(view, {{x, in.min.y}, {in.max.x, bottom}});
  if (!phone && width >= 760) draw_map_and_heads(view, in, width, x);
  const Box track{{x, in.min.y}, {in.max.x, bottom}};
  draw_track(track, scene, commands);
  ui.dragged.push_back(drag_place(track));
}

void draw_veiled_words(ImDrawList* list, const Box& box, bool later) {
  draw_dashed(list, box, colour_of(Token::faint));
  draw_text_in(list, box, Align::centre, Face::text, 13, colour_of(Token::dim),
               fitted_text(Face::text, 13, later ? tr("for a later question") : tr("after your answer"), box.width()));
}

void draw_veiled_card(ImDrawList* list, const Box& box, const char* title, bool later) {
  const Style& s = style();
  draw_card(list, box);
  draw_text(list, {box.min.x + s.px(16), box.min.y + s.px(12)}, Face::bold, 14, colour_of(Token::text), title);
  draw_veiled_words(list, {{box.min.x + s.px(16), box.min.y + s.px(40)}, {box.max.x - s.px(16), box.max.y - s.px(16)}},
                    later);
}

}  // namespace attn
