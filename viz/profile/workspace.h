// Profile: one kernel on one problem, looked at closely: its roofs, what limits occupancy, its bytes and pipes.
#pragma once

#include "viz/profile/profile_ui_state.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// Draws into the current Dear ImGui window's content region, which the shell has opened. The shell owns `ui`.
void draw_profile(const State& state, const Model& model, ProfileUiState& ui, Commands& commands);

}  // namespace attn
