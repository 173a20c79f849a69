// What the pictures of a ring are drawn from.
#pragma once

#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/step/beside/legend.h"
#include "viz/step/facts/focus.h"
#include "viz/step/ring/ring_scene.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {

struct RingPanel {
  const RingScene& scene;
  const State& state;
  const StepFocus& look;
  Commands& commands;
  LegendScale scale;  // of what stands where queries meet keys
  LegendMarks marks;
  // While a lesson asks who computes what: the map waits for the answer, or for that of a later question.
  bool map_hidden = false, map_later = false;
  RingUiState* ui = nullptr;  // where a rank that has its numbers alone is chosen by a finger
};

}  // namespace attn
