// The strip, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/strip.h"

namespace attn {

// Height in pixels: 84 logical with room for the formula beside the words, more below.
// The first line ends at `chips`, pixels: what stands there is not covered.
// Whether the position was pressed, which is a door where `scene.door` says so.
bool draw_step_strip(ImDrawList* list, const Box& box, const StripScene& scene, float chips);

}  // namespace attn
