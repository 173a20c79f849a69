// The chapters: where the learner stopped, what there is, what is known of each.
#pragma once

#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/state/commands.h"

namespace attn {

// Into the current window's content region.
void draw_learn_home(const LearnScene& learn, CardUiState& ui, Commands& commands);

}  // namespace attn
