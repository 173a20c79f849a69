// "Pointed at", drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/tiles/pointed.h"

namespace attn {

// Height that draw_pointed takes; `width`: where its words may take two lines, pixels.
float pointed_height(const PointedScene& scene, float width = 0);
void draw_pointed(ImDrawList* list, const Box& box, const PointedScene& scene);

}  // namespace attn
