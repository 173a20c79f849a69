#include "viz/step/chart_card_draw.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/ladder.h"
#include "viz/draw/pixel_image.h"
#include "viz/draw/theme.h"
#include "viz/draw/widgets.h"
#include "viz/step/chart_card.h"
#include "viz/step/charts/charts_draw.h"
#include "viz/step/timeline/attention_draw.h"
#include "viz/step/timeline/sentence_draw.h"

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
  std::vector<ChartTab> tabs = chart_tabs(card.at.row);
  std::erase_if(tabs, [&](const ChartTab& tab) { return !has_chart(card.rec, tab.chart); });
  float wide = 0;
  const StepChart shown = shown_of(card);
  for (const ChartTab& tab : tabs) wide += text_width(Face::bold, 14, tab.words) + s.px(20);
  const bool narrow = wide > in.width();
  float x = in.min.x, y = in.min.y;
  for (const ChartTab& tab : tabs) {
    if (card.beside_row && tab.chart == StepChart::row) continue;
    const bool chosen = shown == tab.chart;
    const std::string& words = narrow ? tab.narrow : tab.words;
    const float width = text_width(Face::bold, 14, words);
    if (x > in.min.x && x + width > in.max.x) {
      x = in.min.x;
      y += s.px(26);
    }
    const Box box{{x - s.px(6), y - s.px(5)}, {x + width + s.px(6), y + s.px(20)}};
    ImGui::SetCursorScreenPos(box.min);
    const std::string id = fmt::format("##chart_{}", name_of(tab.chart));
    if (ImGui::InvisibleButton(id.c_str(), {box.width(), box.height()}, ImGuiButtonFlags_EnableNav))
      card.commands.emplace_back(ChooseStepChart{tab.chart});
    const bool warm = ImGui::IsItemHovered();
    tooltip(std::string(tab.what));
    draw_text(list, {x, y}, chosen ? Face::bold : Face::text, 14, colour_of(chosen || warm ? Token::text : Token::dim),
              words);
    if (chosen) list->AddRectFilled({x, y + s.px(19)}, {x + width, y + s.px(20.5F)}, colour_of(Token::text));
    x += width + s.px(20);
  }
  return y + s.px(28);
}

PassesScene passes_of(const ChartCard& card) {
  const std::int32_t key = followed_key(card.state.document.selection, card.at, card.values);
  const Recording* other = card.cache.companion();
  return passes_scene(card.rec, card.at, key, card.values.col, other, card.cache.companion_error);
}

void draw_row_card(const ChartCard& card, const Box& box) {
  const Style& s = style();
  ImDrawList* list = ImGui::GetWindowDrawList();
  draw_card(list, box);
  const Box in{{box.min.x + s.px(16), box.min.y + s.px(12)}, {box.max.x - s.px(16), box.max.y - s.px(12)}};
  draw_text(list, in.min, Face::bold, 14, colour_of(Token::text), chart_tabs(card.at.row).front().words);
  draw_row_chart(list, {{in.min.x, in.min.y + s.px(28)}, in.max},
                 row_chart_scene(card.rec, card.at, card.answer_hidden), card.asked);
}

}  // namespace

float fragments_card_height(float width) {
  return fragments_height(width - style().px(32)) + style().px(28 + 24);
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
  switch (shown_of(card)) {
    case StepChart::row:
      draw_row_chart(list, in, row_chart_scene(card.rec, card.at));
      break;
    case StepChart::hindsight:
      draw_hindsight(list, in, hindsight_scene(card.rec, card.at));
      break;
    case StepChart::passes:
      draw_passes(list, in, passes_of(card));
      break;
    case StepChart::error: {
      const ErrorScan& scan = card.cache.error_scan(card.at.b, card.at.h);
      draw_error(in, error_scene(card.rec, scan), scan, card.at, card.state.document.selection, card.commands);
      break;
    }
    case StepChart::fragments: {
      const StepView& view = card.state.view.step;
      if (const KernelRow* row = shown_fragments(view.fragment_kernel))
        draw_fragments(in, row->id, fragment_scene(*row->fragments, view.fragment_tile, card.state.document.problem),
                       card.commands);
      break;
    }
    case StepChart::sentence: {
      const Document& d = card.state.document;
      const bool toy = !card.rec.gpu && is_of_words(card.rec.problem, d.inputs) && d.inputs.edits.empty();
      draw_sentence(in, sentence_scene(card.rec, card.at, toy), card.rec, card.at, d.selection, card.commands);
      break;
    }
    case StepChart::pages: {
      const std::int32_t key = followed_key(card.state.document.selection, card.at, card.values);
      draw_pages(in, card.rec, card.at, key, card.cache.scales, card.commands);
      break;
    }
    case StepChart::attention: {
      if (!card.cache.images) card.cache.images = std::make_shared<PixelImages>();
      const AttentionScene& scene = card.cache.attention(card.at, attention_side(in));
      draw_attention(in, card.rec, scene, card.at, card.state.document.selection, *card.cache.images, card.commands);
      break;
    }
  }
}

}  // namespace attn
