// The card of a lesson: what it says, what it asks, what became of the answer. All of it by mouse and by keyboard.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/state/commands.h"

namespace attn {

// `right`: the side of the window that the card is docked to. `tiles_have_keys`: Enter and digits are the tiles'.
// `alone`: there is no room for the run beside it, and its head leads there.
void draw_lesson_card(const CardScene& card, const Box& box, bool right, bool alone, bool tiles_have_keys,
                      CardUiState& ui, Commands& commands);

}  // namespace attn
