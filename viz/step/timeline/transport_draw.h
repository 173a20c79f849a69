// The timeline's buttons: step, play and its speed, the steps where m changes, bookmarks.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/timeline/timeline.h"

namespace attn {

// Logical: how wide the first row is and how high its buttons are, and whether the second has its place below it.
struct TransportSize {
  float width = 252, row = 30;
  bool marks = true;
};
// `given`: the first row fills that width, and the second is behind a chip; 0: as wide as the buttons need.
TransportSize transport_size(float given);

// Where there is no room for its second row a chip stands at the end of the first, in `more`: whether it was pressed.
bool draw_transport(const Box& box, const State& state, const TimelineScene& scene, Commands& commands,
                    const TransportSize& size, Box& more);
// The second row alone: steps where m changes, bookmarks, speed. For fingers it is two; its height is logical.
float transport_marks_height();
void draw_transport_marks(const Box& box, const State& state, const TimelineScene& scene, Commands& commands);
// A bookmark, hanging from `top`; `size` logical pixels high.
void draw_ribbon(ImDrawList* list, ImVec2 top, float size, ImU32 c, bool filled);

}  // namespace attn
