// One rank of a ring with its numbers, for a page on which the cells of all ranks are too small to have them: what the
// step's rank holds and makes, in as many lines as the page is narrow. Its other ranks are small pictures; a tap on one
// shows its numbers instead.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/facts/focus.h"
#include "viz/step/ring/ring_panel.h"

namespace attn {

// Pixels, on a line so wide.
float ring_rank_height(const RingScene& scene, const StepFocus& look, const RingUiState& ui, float width);
void draw_ring_rank(const RingPanel& panel, const Box& area);

}  // namespace attn
