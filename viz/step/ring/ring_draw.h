// Draws a ring in the room of the tiles: a row for each rank, the way that K and V travel, the map of turns and the
// work of each rank.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/ring/ring_panel.h"

namespace attn {

// Where its columns have no room beside each other they stand in bands below each other.
void draw_ring(const RingPanel& panel, const Box& box);
// What it likes to have on a page so wide that is scrolled, pixels.
float ring_height(const RingPanel& panel, const Recording& rec, float width);

// Its right side: who computes what in which turn, how much that is, what is sent.
void draw_ring_map(const RingPanel& panel, const Box& box);

}  // namespace attn
