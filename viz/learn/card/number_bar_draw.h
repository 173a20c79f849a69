#pragma once

#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/card/pen_draw.h"

namespace attn {

// The line of the question below its field: what is dragged stands in the field as text, and what is typed there moves
// the handle. A class sees the line and no handle until it is revealed.
void draw_number_bar(const CardScene& card, Pen& pen, CardUiState& ui);

// Left and right move the handle while the question is open and neither the field nor others have the keyboard. Before
// anything else is drawn: nobody else sees these keys then.
void take_bar_keys(const CardScene& card, bool others_have_it, CardUiState& ui);

}  // namespace attn
