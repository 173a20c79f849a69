// The timeline's buttons: step, play and its speed, the steps where m changes, bookmarks.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/timeline/timeline.h"

namespace attn {

constexpr float kTransportWidth = 252;  // logical

// Faster and slower go through these, in steps a second.
constexpr float kSpeeds[] = {0.5F, 1, 2, 4, 8, 16, 32};
float next_speed(float now, int direction);
std::string speed_text(float steps_per_second);  // "2/s"

void draw_transport(const Box& box, const State& state, const TimelineScene& scene, Commands& commands);
// A bookmark, hanging from `top`; `size` logical pixels high.
void draw_ribbon(ImDrawList* list, ImVec2 top, float size, ImU32 c, bool filled);

}  // namespace attn
