// The card of a lesson: what it says, what it asks, what became of the answer. All of it by mouse and by keyboard.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/desk.h"
#include "viz/learn/held.h"
#include "viz/state/commands.h"

namespace attn {

// `right`: the side of the window that the card is docked to. `tiles_have_keys`: Enter and digits are the tiles'.
void draw_lesson_card(const CardScene& card, const Box& box, bool right, bool tiles_have_keys, LearnHeld& held,
                      Commands& commands);

}  // namespace attn
