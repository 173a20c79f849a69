// The charts of a step, a row each: what asks for a chart (viz/step/chart_card_draw.h) knows none of them.

#include <algorithm>
#include <array>
#include <memory>

#include "kernels/ladder.h"
#include "viz/draw/pixel_image.h"
#include "viz/draw/theme.h"
#include "viz/step/chart_card_draw.h"
#include "viz/step/charts/chart_card.h"
#include "viz/step/charts/charts_draw.h"
#include "viz/step/timeline/attention_draw.h"
#include "viz/step/timeline/sentence_draw.h"

namespace attn {
namespace {

void row(const ChartCard& card, const Box& in) {
  const RowChartScene scene = row_chart_scene(card.rec, card.at, card.answer_hidden, card.letters);
  draw_row_chart(ImGui::GetWindowDrawList(), in, scene, card.asked);
}

void hindsight(const ChartCard& card, const Box& in) {
  draw_hindsight(ImGui::GetWindowDrawList(), in, hindsight_scene(card.rec, card.at));
}

void passes(const ChartCard& card, const Box& in) {
  const std::int32_t key = followed_key(card.state.document.selection, card.at, card.values);
  const Recording* other = card.cache.companion();
  draw_passes(ImGui::GetWindowDrawList(), in,
              passes_scene(card.rec, card.at, key, card.values.col, other, card.cache.companion_error));
}

void error(const ChartCard& card, const Box& in) {
  const ErrorScan& scan = card.cache.error_scan(card.at.b, card.at.h);
  draw_error(in, error_scene(card.rec, scan), scan, card.at, card.state.document.selection, card.commands);
}

void fragments(const ChartCard& card, const Box& in) {
  const StepView& view = card.state.view.step;
  if (const KernelRow* kernel = shown_fragments(view.fragment_kernel))
    draw_fragments(in, kernel->id, fragment_scene(*kernel->fragments, view.fragment_tile, card.state.document.problem),
                   card.commands);
}

void sentence(const ChartCard& card, const Box& in) {
  const Document& d = card.state.document;
  const bool toy = !card.rec.gpu && is_of_words(card.rec.problem, d.inputs) && d.inputs.edits.empty();
  draw_sentence(in, sentence_scene(card.rec, card.at, toy, card.letters), card.rec, card.at, d.selection,
                card.commands);
}

void pages(const ChartCard& card, const Box& in) {
  const std::int32_t key = followed_key(card.state.document.selection, card.at, card.values);
  draw_pages(in, card.rec, card.at, key, card.cache.scales, card.commands);
}

void attention(const ChartCard& card, const Box& in) {
  if (!card.cache.images) card.cache.images = std::make_shared<PixelImages>();
  const AttentionScene& scene = card.cache.attention(card.at, attention_side(in));
  draw_attention(in, card.rec, scene, card.at, card.state.document.selection, *card.cache.images, card.commands);
}

struct ChartRow {
  StepChart chart;
  void (*draw)(const ChartCard& card, const Box& in);
};
constexpr std::array<ChartRow, 8> kCharts{{{StepChart::row, row},
                                           {StepChart::hindsight, hindsight},
                                           {StepChart::passes, passes},
                                           {StepChart::error, error},
                                           {StepChart::attention, attention},
                                           {StepChart::fragments, fragments},
                                           {StepChart::sentence, sentence},
                                           {StepChart::pages, pages}}};

}  // namespace

void draw_chart(StepChart chart, const ChartCard& card, const Box& in) {
  const auto* found = std::ranges::find(kCharts, chart, &ChartRow::chart);
  if (found != kCharts.end()) found->draw(card, in);
}

float fragments_card_height(float width) {
  return fragments_height(width - style().px(32)) + style().px(28 + 24);
}

}  // namespace attn
