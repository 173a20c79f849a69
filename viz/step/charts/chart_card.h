// The card of charts beside HBM traffic: its tabs, which of them is shown, and which key its charts follow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viz/state/state.h"
#include "viz/step/facts/values.h"
#include "viz/step/place/place.h"

namespace attn {

struct ChartTab {
  StepChart chart = StepChart::row;
  std::string words, narrow;  // `narrow` where the card has no room for all words
  std::string_view what;      // one sentence
};
std::vector<ChartTab> chart_tabs(std::int32_t row);
// Those that the recording has, in their order; where rows and columns have words, the sentence first.
std::vector<ChartTab> chart_tabs(std::int32_t row, const Recording& rec);
// The chart that was chosen, or the row where the order has none such; hindsight instead of the row where that has a
// card of its own.
StepChart shown_chart(StepChart chosen, bool beside_row, Order order = Order::flash);
StepChart shown_chart(StepChart chosen, bool beside_row, const Recording& rec);
bool has_chart(Order order, StepChart chart);
// Arcs over a sentence need words besides, pages keys that lie in some.
bool has_chart(const Recording& rec, StepChart chart);
// A chart that is chosen and can be shown takes the room of HBM traffic: the sentence, the pages.
bool shows_wide_chart(const State& state, const Recording& rec);
// Whether a second card beside that of the row has something to show.
bool has_more_charts(Order order);
// The pinned key wherever it is, else the one that the sentence follows.
std::int32_t followed_key(const Selection& pinned, const StepPlace& at, const StepValues& values);

}  // namespace attn
