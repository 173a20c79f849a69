// Rows of a timeline on an axis: stretches, their letters, what lies under the pointer.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <imgui.h>

#include "viz/draw/canvas.h"
#include "viz/profile/timeline/scene/path_lines.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

// A moment of a comparison: where both are aligned, dotted; or where one has done as much as the other, dashed.
struct ChartMoment {
  float x = 0;
  std::string done;  // "6 tiles done"; empty: both are aligned there
};

// Where a scene's rows lie.
struct Chart {
  const PipelineScene& scene;
  Box plot;
  std::vector<Box> rows;
  std::vector<PathLine> path, arrows;     // in sight: no letter stands on them
  std::vector<ChartMoment> moments = {};  // nor on their lines, from top to bottom
  TimeAxis axis() const { return {plot.min.x, plot.width(), scene.from, scene.to}; }
  float x_of(std::int64_t clock) const { return axis().x_of(clock); }
  std::int64_t clock_of(float x) const {
    const double share = static_cast<double>((x - plot.min.x) / plot.width());
    return scene.from + static_cast<std::int64_t>(std::llround(share * static_cast<double>(scene.to - scene.from)));
  }
};

void draw_stretch(ImDrawList* list, const PipelineScene& scene, const TimelineStretch& x, const Box& box);
// Several that are too short to tell apart: strokes, no shade.
void draw_joined(ImDrawList* list, const Box& box);
// A row in its window. What is narrower than a few pixels joins its neighbours to a pale column.
void draw_row(ImDrawList* list, const Chart& chart, const TimelineRow& row, const Box& place);
// Behind the rows and what is drawn over them: where the path or an arrow crosses a stretch its letter stands beside
// it, or is left out.
void draw_row_letters(ImDrawList* list, const Chart& chart, const TimelineRow& row, const Box& place);
void draw_labels(ImDrawList* list, const Chart& chart, float left);
// `row`: the one under the pointer, whatever lies there.
const TimelineStretch* under_pointer(const Chart& chart, ImVec2 at, const TimelineRow** row = nullptr);
// Who released this wait; null: it is none, or nobody did.
const ReleaseArrow* release_of(const PipelineScene& scene, const TimelineStretch& wait);
// Of the waits for the key tile that is followed; none is.
void draw_releases(ImDrawList* list, const Chart& chart);
void draw_release(ImDrawList* list, const Chart& chart, const ReleaseArrow& a, ImU32 ink);
// Where no product is in flight, over the rows of products.
void draw_idle(ImDrawList* list, const Chart& chart);

}  // namespace attn
