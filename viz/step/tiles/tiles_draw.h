// The tiles of the live step, drawn: Q, S, m, alpha, P, l, O left to right, K above S, V above O, the algorithm
// underneath. Cells answer to the pointer, to clicks and, after Tab, to the arrow keys.
#pragma once

#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/step/facts/focus.h"
#include "viz/step/facts/scales.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {

// What the panel is drawn from, and where it puts what the user does.
struct TilesPanel {
  const Recording& rec;
  const ExactTile* exact;  // fp64 of the live query tile; null where there is none
  const TensorScales& scales;
  const State& state;
  TilesUiState& ui;
  Commands& commands;
  const StepFocus& look;
  bool asks = false;  // a lesson does: the ends of a scale are not said
  // A phone's: how much of the card is in sight at once, pixels. It has bands, as high as they need, and the pinned
  // cell is spelled out elsewhere. 0: no phone's.
  float seen = 0;
};

// Of a phone's card of this width, pixels, of which `seen` are in sight at once. `scene`: as it is drawn.
float phone_tiles_height(const TilesScene& scene, const Recording& rec, const TensorScales& scales,
                         const StepFocus& look, float width, float seen);
// Whether on a page that is scrolled, as a phone's, tiles have numbers that this card has no room for.
bool page_has_more_numbers(const TilesScene& scene, const Recording& rec, const TensorScales& scales, const Box& card);
// Draws into `box` (a card) of the current window. `scene` gets its texts here, once the room is known.
void draw_step_tiles(const TilesPanel& panel, const Box& box, TilesScene& scene);

}  // namespace attn
