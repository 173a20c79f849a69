// The head of the lesson's card: number, title, how far; the projector, the other side, the way out.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/card/pen_draw.h"
#include "viz/state/commands.h"

namespace attn {

// `right`, `alone`: as of draw_lesson_card().
void draw_card_head(const CardScene& card, const Box& box, bool right, bool alone, Pen& pen, CardUiState& ui,
                    Commands& commands);
// What is asked and how, over the words that may be scrolled. `takes_keys`: Backspace is the card's.
void draw_question_head(const CardScene& card, bool low, bool takes_keys, Pen& pen, Commands& commands);
// Over the run where it stands alone: back to the card. Its height is kRunHead, logical, or a finger's.
constexpr float kRunHead = 36;
void draw_run_head(const CardScene& card, const Box& box, CardUiState& ui);

}  // namespace attn
