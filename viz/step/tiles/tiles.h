// The tiles of the live step, drawn: Q, S, m, alpha, P, l, O left to right, K above S, V above O, the algorithm
// underneath. Cells answer to the pointer, to clicks and, after Tab, to the arrow keys.
#pragma once

#include <optional>

#include "viz/state/commands.h"
#include "viz/step/held.h"
#include "viz/step/tiles/layout.h"
#include "viz/step/tiles/pointed.h"

namespace attn {

struct TilesPanel {
  const Recording& rec;
  const State& state;
  StepHeld& memory;
  Commands& commands;
};
// Draws into `box` (a card) of the current window. `scene` gets its texts here, once the room is known.
void draw_step_tiles(const TilesPanel& panel, const Box& box, TilesScene& scene);

// The cell that the pointer, the keyboard or the selection is on, in this order; else the one the sentence follows.
std::optional<CellRef> pointed_cell(const TilesScene& scene, const State& state, const StepHeld& memory);

// "Tiles on chip": bytes of the tiles that are live at once.
void draw_chip_card(ImDrawList* list, const Box& box, const Recording& rec);

}  // namespace attn
