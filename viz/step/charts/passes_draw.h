// The passes, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/charts/passes.h"

namespace attn {

// Draws into `in`; the strip of the shown run is lit.
void draw_passes(ImDrawList* list, const Box& in, const PassesScene& scene);

}  // namespace attn
