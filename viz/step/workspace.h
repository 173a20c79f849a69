// Step: walks through a recording, one event at a time.
#pragma once

#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"
#include "viz/step/step_ui_state.h"

namespace attn {

// Draws into the current Dear ImGui window's content region, which the shell has opened. The shell owns `ui`, sets
// held.texts at start-up with parse_step_texts(text of assets/step_texts.json), and leaves the plain arrow keys, Tab
// and Esc to Step while held.tiles.focused.
void draw_step(const State& state, const Model& model, StepUiState& ui, Commands& commands);

}  // namespace attn
