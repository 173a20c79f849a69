// The card of charts beside HBM traffic, drawn: one chart at a time, named by the tabs on top. And the timeline's card.
#pragma once

#include <string>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/step/charts/row.h"
#include "viz/step/facts/side_by_side.h"
#include "viz/step/facts/values.h"
#include "viz/step/place/place.h"
#include "viz/step/step_cache.h"

namespace attn {

struct ChartCard {
  const Recording& rec;
  const StepPlace& at;
  const StepValues& values;
  const State& state;
  StepCache& cache;
  Commands& commands;
  bool beside_row = false;     // the row chart has a card of its own next to this one
  bool answer_hidden = false;  // the row chart alone: the others show what is to come
  bool letters = true;         // m and l are spoken of
  AskedBar* asked = nullptr;   // of the row chart, that a lesson asks for
};
// From this width, logical, the row chart stands in a card of its own beside the others.
constexpr float kTwoCharts = 1240;
// The sentence takes more of it.
constexpr float kSentenceAndRow = 1080;
// Of a card of this width that shows fragments whole, pixels.
float fragments_card_height(float width);
// Where the window has no room for the charts under the tiles, or for what an order has in their place, they are behind
// a chip left of `strip`'s right edge. `bottom`: of what it may cover in the window, `all`.
std::string charts_chip_words(const Recording& rec);
void draw_charts_chip(const ChartCard& card, const SideBySideView& view, const Box& strip, const Box& all,
                      float bottom);
// Draws into `box`, a card of the current window.
void draw_chart_card(const ChartCard& card, const Box& box);
// One chart below its card's title; by the table of viz/step/chart_table_draw.cpp.
void draw_chart(StepChart chart, const ChartCard& card, const Box& in);

// Buttons, map and heads, and the track. `page`: of a phone. The track has the whole width there, and what is pressed
// stands in a line below it; so it is under a finger wherever it has little room beside that.
void draw_timeline_card(const Box& box, const SideBySideView& view, bool page);
// In place of what a question is about. `later`: a later one.
void draw_veiled_words(ImDrawList* list, const Box& box, bool later);
void draw_veiled_card(ImDrawList* list, const Box& box, const char* title, bool later);

}  // namespace attn
