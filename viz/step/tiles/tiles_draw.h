// The tiles of the live step, drawn: Q, S, m, alpha, P, l, O left to right, K above S, V above O, the algorithm
// underneath. Cells answer to the pointer, to clicks and, after Tab, to the arrow keys.
#pragma once

#include "kernels/recording/exact.h"
#include "kernels/recording/recording.h"
#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/step/facts/focus.h"
#include "viz/step/facts/scales.h"
#include "viz/step/tiles/held.h"
#include "viz/step/tiles/scene.h"

namespace attn {

struct TilesPanel {
  const Recording& rec;
  const ExactTile* exact;  // fp64 of the live query tile; null where there is none
  const TensorScales& scales;
  const State& state;
  TilesHeld& held;
  Commands& commands;
  const StepFocus& look;
};
// Draws into `box` (a card) of the current window. `scene` gets its texts here, once the room is known.
void draw_step_tiles(const TilesPanel& panel, const Box& box, TilesScene& scene);

}  // namespace attn
