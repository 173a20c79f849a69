// The timeline's buttons: step, play and its speed, the steps where m changes, bookmarks.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/timeline/timeline.h"

namespace attn {

constexpr float kTransportWidth = 252;  // logical

// Where there is no room for its second row a chip stands at the end of the first, in `more`: whether it was pressed.
bool draw_transport(const Box& box, const State& state, const TimelineScene& scene, Commands& commands, Box& more);
// The second row alone: steps where m changes, bookmarks, speed. 24 logical pixels high.
void draw_transport_marks(const Box& box, const State& state, const TimelineScene& scene, Commands& commands);
// A bookmark, hanging from `top`; `size` logical pixels high.
void draw_ribbon(ImDrawList* list, ImVec2 top, float size, ImU32 c, bool filled);

}  // namespace attn
