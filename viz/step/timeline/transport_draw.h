// The timeline's buttons: step, play and its speed, the steps where m changes, bookmarks.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/timeline/timeline.h"

namespace attn {

constexpr float kTransportWidth = 252;  // logical

void draw_transport(const Box& box, const State& state, const TimelineScene& scene, Commands& commands);
// A bookmark, hanging from `top`; `size` logical pixels high.
void draw_ribbon(ImDrawList* list, ImVec2 top, float size, ImU32 c, bool filled);

}  // namespace attn
