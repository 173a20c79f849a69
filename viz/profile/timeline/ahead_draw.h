// How far one of two recordings is ahead of the other, as a distance on their axis.
#pragma once

#include <string>
#include <vector>

#include "viz/profile/timeline/rows_draw.h"
#include "viz/profile/timeline/scene/comparison.h"

namespace attn {

struct TwoCharts {
  const Chart &above, &below;
};
// Where both are aligned, if that is in sight, and where each is done with as many key tiles as the other.
void add_moments(const PipelineScene& scene, Chart& above, Chart& below);
// Their lines, each with its own head over the rows: a hollow diamond where both are aligned, a flag at an end.
void draw_moments(ImDrawList* list, const Chart& chart);
// What heads and names take of the `axis`, clear of `mark`; each end has its name there if it has room.
std::vector<Box> draw_moment_names(ImDrawList* list, const Chart& chart, const Box& axis, const Box& mark);
// From one end to the other a bracket in `room`, with the words beside it: bold where the headline says so too.
void draw_ahead(ImDrawList* list, const TwoCharts& charts, const Ahead& ahead, const Box& room,
                const AheadWords& words);
// Why there is none, in its place.
void draw_no_bracket(ImDrawList* list, const Box& room, const std::vector<std::string>& words);
// Where a half shows no more of its block: when that ended, and which way it lies.
void draw_edges(ImDrawList* list, const Chart& chart);

}  // namespace attn
