// What became of an answer, and how it comes into sight where the card is too low for all of it.
#pragma once

#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/card/pen_draw.h"

namespace attn {

constexpr float kStrokes = 4;  // a formula's letters reach above their line, logical

// The field that a question asks for is in sight when it opens, from its label on, and in a window of another size.
void show_field(float top, float bottom, CardUiState& ui);
// `top`: of the hint before it.
void draw_news(const CardScene& card, float top, Pen& pen, CardUiState& ui);
// Beside a map, which keeps its room.
bool has_news_below_words(const CardScene& card, const CardUiState& ui);

}  // namespace attn
