// What the pictures of a ring are drawn from.
#pragma once

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

}  // namespace attn
