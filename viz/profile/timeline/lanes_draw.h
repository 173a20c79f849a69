// The lanes of a block on an axis of time: chart, axis, the whole block above it, and what mouse and keys do there.
#pragma once

#include <imgui.h>

#include "viz/profile/timeline/rows_draw.h"
#include "viz/profile/timeline/scene/row_heights.h"
#include "viz/state/commands.h"

namespace attn {

constexpr float kTimeAxis = 18;  // logical pixels

// From `left_top` to `right`.
Chart chart_at(const PipelineScene& scene, ImVec2 left_top, float right, const RowHeights& heights);
// Its unit left of it; at an edge where the followed key tile is, if it is out of sight: a click goes there. Null: that
// is not said.
void draw_time_axis(ImDrawList* list, const Chart& chart, float top, Commands* commands);
// Names from `left` on, rows, dotted lines, over them the unbroken path, arrows, letters.
void draw_chart(ImDrawList* list, const Chart& chart, float left);

float overview_height(const PipelineScene& scene);
// The whole block, small, with the window on it; a drag or a click moves there.
void draw_overview(ImDrawList* list, const PipelineScene& scene, const Box& box, Commands& commands);

ChooseTimeSpan whole_block(const PipelineScene& scene);
// Drag over a part to enlarge it, Ctrl with the wheel to zoom, Shift to measure, double click for the whole block,
// click a stretch to follow its key tile; arrow keys walk the stretches.
void follow_pointer(ImDrawList* list, const Chart& chart, Commands& commands);
// Of the lower recording, which follows the upper one: what lies under the pointer.
void point_below(ImDrawList* list, const Chart& chart);

}  // namespace attn
