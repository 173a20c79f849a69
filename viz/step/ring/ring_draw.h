// Draws a ring in the room of the tiles: a row for each rank, the way that K and V travel, the map of turns and the
// work of each rank.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/step/facts/focus.h"
#include "viz/step/ring/ring_scene.h"

namespace attn {

struct RingPanel {
  const RingScene& scene;
  const State& state;
  const StepFocus& look;
  Commands& commands;
  // While a lesson asks who computes what: the map waits for the answer, or for that of a later question.
  bool map_hidden = false, map_later = false;
};

void draw_ring(const RingPanel& panel, const Box& box);

// Its right side: who computes what in which turn, how much that is, what is sent.
void draw_ring_map(const RingPanel& panel, const Box& box);

}  // namespace attn
