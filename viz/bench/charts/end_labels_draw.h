// Names beside a chart's plot, or under it, each with the mark of its line: a click hides the line and brings it back.
#pragma once

#include <vector>

#include "imgui.h"
#include "viz/bench/scene/bench_cache.h"
#include "viz/bench/scene/bench_scene.h"

namespace attn {

struct EndLabel {
  const BenchLine* line = nullptr;         // null: it stands for `others`
  ImVec2 end;                              // of its line, pixels
  bool at_edge = false;                    // the line goes on to the plot's edge
  double y = 0;                            // of the name, pixels
  std::vector<const BenchLine*> others{};  // whose names have no room
};

// Pixels that the names need beside the plot.
float label_gutter(const BenchChart& chart);
// Whether they have that room in a chart of this width.
bool names_beside(const BenchChart& chart, const BenchCache& cache, float width);
// Where they have not: pixels that they take under the plot. 0: they stand beside it, or are not asked for.
float names_height(const BenchChart& chart, const BenchCache& cache, float width);
void draw_names(ImDrawList& list, const BenchChart& chart, BenchCache& cache, ImVec2 at, float width);
// Where the names stand: asked while the plot is the current one. Where not all have room the last stands for the
// least telling of them.
std::vector<EndLabel> end_labels(const BenchChart& chart, const BenchCache& cache, ImVec2 origin, ImVec2 size);
void draw_end_labels(ImDrawList& list, const std::vector<EndLabel>& labels, BenchCache& cache, ImVec2 origin,
                     ImVec2 size);

}  // namespace attn
