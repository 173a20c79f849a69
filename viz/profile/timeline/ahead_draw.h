// How far one of two recordings is ahead of the other, as a distance on their axis.
#pragma once

#include <string>

#include "viz/profile/timeline/rows_draw.h"

namespace attn {

struct TwoCharts {
  const Chart &above, &below;
};
// The x of each dotted line of the upper chart, and of the lower one: where both are aligned, if that is in sight, and
// where each is done with as many key tiles as the other. No letter stands on them.
void add_dotted(const PipelineScene& scene, Chart& above, Chart& below);
void draw_dotted(ImDrawList* list, const Chart& chart);
// From one end to the other a bracket in `room`, with the words beside it.
void draw_ahead(ImDrawList* list, const TwoCharts& charts, const Ahead& ahead, const Box& room,
                const std::string& words);

}  // namespace attn
