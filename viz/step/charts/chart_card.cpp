#include "viz/step/charts/chart_card.h"

#include <algorithm>

#include "kernels/base/text.h"
#include "kernels/model/order_row.h"
#include "viz/step/orders/looks.h"

namespace attn {

std::vector<ChartTab> chart_tabs(std::int32_t row) {
  return {{StepChart::row, phrase("Row {} across the keys", row), phrase("Row {}", row),
           tr("Scores, weights, m and ℓ of the followed row, up to this step")},
          {StepChart::hindsight, tr("Hindsight"), tr("Hindsight"),
           tr("How far O / ℓ is from the final O after each key tile")},
          {StepChart::passes, tr("Naive and flash"), tr("Naive, flash"),
           tr("The same element in naive's three passes and flash's single pass")},
          {StepChart::error, tr("Error"), tr("Error"), tr("The difference from fp64, and the first cell that differs")},
          {StepChart::attention, tr("Attention map"), tr("Attention"),
           tr("One head's weights so far, query by key, and how sharp each row is")},
          {StepChart::fragments, tr("Fragments"), tr("Fragments"),
           tr("Which lane and register of a warp hold which element on tensor cores, and the banks of shared memory")},
          {StepChart::sentence, tr("Sentence"), tr("Sentence"),
           tr("Arcs from the followed word to the words it attends to, in two heads, up to this step")},
          {StepChart::pages, tr("Pages"), tr("Pages"),
           tr("Where K and V are in memory, the page table, and what the key tile gathers")}};
}

std::vector<ChartTab> chart_tabs(std::int32_t row, const Recording& rec) {
  std::vector<ChartTab> tabs = chart_tabs(row);
  std::erase_if(tabs, [&](const ChartTab& tab) { return !has_chart(rec, tab.chart); });
  std::ranges::stable_partition(tabs, [](const ChartTab& tab) { return tab.chart == StepChart::sentence; });
  return tabs;
}

bool has_chart(Order order, StepChart chart) {
  const auto charts = order_look(order).charts;
  return std::ranges::find(charts, chart) != charts.end();
}

bool has_more_charts(Order order) {
  return has_chart(order, StepChart::hindsight);
}

bool has_chart(const Recording& rec, StepChart chart) {
  if (chart == StepChart::sentence && !rec.labels.any()) return false;
  if (chart == StepChart::pages && rec.problem.storage.kind() == Storage::dense) return false;
  return has_chart(rec.order, chart);
}

bool shows_wide_chart(const State& state, const Recording& rec) {
  const StepChart chart = state.view.step.chart;
  return (chart == StepChart::sentence || chart == StepChart::pages) && has_chart(rec, chart);
}

StepChart shown_chart(StepChart chosen, bool beside_row, Order order) {
  if (!has_chart(order, chosen)) chosen = StepChart::row;
  return beside_row && chosen == StepChart::row ? StepChart::hindsight : chosen;
}

StepChart shown_chart(StepChart chosen, bool beside_row, const Recording& rec) {
  return shown_chart(has_chart(rec, chosen) ? chosen : StepChart::row, beside_row, rec.order);
}

std::int32_t followed_key(const Selection& pinned, const StepPlace& at, const StepValues& values) {
  const bool by_key = slot_row(pinned.slot).columns == SlotColumns::keys;
  const std::int32_t key = by_key && pinned.col >= 0 ? pinned.col : values.key;
  return key < 0 ? at.first_key : key;
}

}  // namespace attn
