#include "viz/step/chart_card_draw.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/text.h"
#include "viz/draw/hands.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/bars/bars_draw.h"
#include "viz/step/charts/chart_card.h"
#include "viz/step/charts/traffic_draw.h"
#include "viz/step/step_ui_state.h"

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
bool begin_charts_popup(const Box& chip, const Box& strip, const Box& all, ImVec2 size) {
  const Style& s = style();
  ImGui::SetNextWindowPos({all.max.x - size.x - s.px(12), strip.max.y + s.px(6)});
  ImGui::SetNextWindowSize(size);
  if (!ImGui::BeginPopup("##charts_popup", ImGuiWindowFlags_NoMove)) return false;
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
  if (!begin_charts_popup(chip, strip, all, {wide, std::min(height + s.px(24), room)})) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x;
  draw_chart_card(card, {at, {right, at.y + chart}});
  if (both)
    draw_traffic_card(ImGui::GetWindowDrawList(), {{at.x, at.y + chart + s.px(kStepGutter)}, {right, at.y + height}},
                      traffic_scene(card.rec, card.at.event, card.cache.traffic), card.rec, card.at.event);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({right - at.x, height});
  ImGui::EndPopup();
}

// The card that an order has in place of charts.
void draw_card_popup(const SideBySideView& view, const Box& chip, const Box& strip, const Box& all, float bottom) {
  const Style& s = style();
  const SideBySide& way = side_by_side_of(view.rec);
  const float room = bottom - strip.max.y - s.px(12), wide = all.width() - s.px(24), pads = s.px(24);
  const float height = s.px(way.card_height(view.rec, (wide - pads) / s.scale, (room - pads) / s.scale));
  if (!begin_charts_popup(chip, strip, all, {wide, std::min(height + pads, room)})) return;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float right = at.x + ImGui::GetContentRegionAvail().x;
  way.card(view, {at, {right, at.y + height}});
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({right - at.x, height});
  ImGui::EndPopup();
}

}  // namespace

std::string charts_chip_words(const Recording& rec) {
  return side_by_side_of(rec).card != nullptr ? tr("Loops") : tr("Charts");
}

void draw_charts_chip(const ChartCard& card, const SideBySideView& view, const Box& strip, const Box& all,
                      float bottom) {
  Box box;
  if (chip_button("##charts_chip", charts_chip_words(view.rec), {strip.max.x, strip.min.y + style().px(kChipTop)}, box))
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

}  // namespace attn
