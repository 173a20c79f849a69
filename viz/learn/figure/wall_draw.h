// The memory wall, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/figure/wall.h"

namespace attn {

// The whole card, in `box`.
void draw_wall(const WallScene& scene, const Box& box);
// The areas alone, to scale, as small as a picture on a button: what stands in between over the GPU's memory.
void draw_wall_areas(ImDrawList* list, const Box& box, const WallScene& scene, bool words);

}  // namespace attn
