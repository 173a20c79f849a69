// What the tiles panel is drawn from, and where it puts what the user does.
#pragma once

#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"
#include "viz/step/facts/focus.h"
#include "viz/step/facts/scales.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {

struct TilesPanel {
  const Recording& rec;
  const ExactTile* exact;  // fp64 of the live query tile; null where there is none
  const TensorScales& scales;
  const State& state;
  TilesUiState& ui;
  Commands& commands;
  const StepFocus& look;
  bool asks = false;  // a lesson does: the ends of a scale are not said
};

}  // namespace attn
