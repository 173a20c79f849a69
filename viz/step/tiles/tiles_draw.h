// The tiles of the live step, drawn: Q, S, m, alpha, P, l, O left to right, K above S, V above O, the algorithm
// underneath. Cells answer to the pointer, to clicks and, after Tab, to the arrow keys.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/tiles/tiles_panel.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {

// Draws into `box` (a card) of the current window. `scene` gets its texts here, once the room is known.
void draw_step_tiles(const TilesPanel& panel, const Box& box, TilesScene& scene);

}  // namespace attn
