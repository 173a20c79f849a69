// The strip, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/bars/strip.h"

namespace attn {

// Of a strip that is `width` wide in a view `height` high, all logical: how many lines its sentence may take, the same
// at every step, and how high it is.
int strip_lines(float width);
float strip_height(float width, float height);

// The first line ends at `chips`, pixels: what stands there is not covered.
// Whether the position was pressed, which is a door where `scene.door` says so.
bool draw_step_strip(ImDrawList* list, const Box& box, const StripScene& scene, float chips);

}  // namespace attn
