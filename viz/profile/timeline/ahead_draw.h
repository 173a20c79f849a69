// How far one of two recordings is ahead of the other, as a distance on their axis.
#pragma once

#include <string>

#include "viz/profile/timeline/rows_draw.h"

namespace attn {

struct TwoCharts {
  const Chart &above, &below;
};
// Dotted where both are aligned, and in each where it is done with as many key tiles; between them a bracket in `room`,
// with the words beside it.
void draw_ahead(ImDrawList* list, const TwoCharts& charts, const Ahead& ahead, const Box& room,
                const std::string& words);

}  // namespace attn
