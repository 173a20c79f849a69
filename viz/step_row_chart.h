// "Row r across the keys": the scores of the followed row with the stairs of m above, and below the weights as they
// stand now, exp(S - m), with a dashed ghost of what they were before the last rescaling. Nothing of the future.
#pragma once

#include <vector>

#include "viz/canvas.h"
#include "viz/step_place.h"

namespace attn {

struct RowChartKey {
  bool scored = false, masked = false;
  float score = 0;
  bool weighed = false;
  double weight = 0;  // exp(S - m) with the maximum of this moment (orders that store S: over l)
  double ghost = 0;   // what it was before x alpha; 0 = the same
};

struct RowChartTile {
  std::int32_t first_key = 0, keys = 0;
  bool live = false, skipped = false;
  bool has_m = false;
  float m = 0;  // the running maximum after this tile
};

struct RowChartScene {
  std::int32_t row = 0;
  std::vector<RowChartKey> keys;
  std::vector<RowChartTile> tiles;  // left to right by key
  bool any_score = false;
  float least = 0, most = 0;  // finite scores and maxima shown
  bool any_weight = false;
  double most_weight = 1;
  Runs title;
  std::vector<Runs> notes;  // beside the weights: their sum and what comes next
};
RowChartScene row_chart_scene(const Recording& rec, const StepPlace& at, const ExactTile* exact);

void draw_row_chart(ImDrawList* list, const Box& box, const RowChartScene& scene);

}  // namespace attn
