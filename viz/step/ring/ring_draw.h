// Draws a ring in the room of the tiles: a row for each rank, the way that K and V travel, the map of turns and the
// work of each rank.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/ring/ring_panel.h"

namespace attn {

void draw_ring(const RingPanel& panel, const Box& box);

// Its right side: who computes what in which turn, how much that is, what is sent.
void draw_ring_map(const RingPanel& panel, const Box& box);

}  // namespace attn
