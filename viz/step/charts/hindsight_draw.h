// Hindsight, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/charts/hindsight.h"

namespace attn {

void draw_hindsight(ImDrawList* list, const Box& in, const HindsightScene& scene);

}  // namespace attn
