// What is pressed on the lesson's card: check, hint, show; back, skip, next.
#pragma once

#include <string>

#include "viz/draw/canvas.h"
#include "viz/learn/card/card_ui_state.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/learn/card/pen_draw.h"
#include "viz/state/commands.h"

namespace attn {

constexpr float kFootEnd = 90;  // back and skip where all stands in one line, logical

// Where the buttons of an open question stand: under it, or, where the card is low, in its foot, which never scrolls.
struct ActionBoxes {
  Box main, hint, show;
};
ActionBoxes boxes_below(const CardScene& card, Pen& pen);
ActionBoxes boxes_in_line(const CardScene& card, const Box& line);
void draw_actions(const CardScene& card, const ActionBoxes& boxes, bool takes_keys, CardUiState& ui,
                  Commands& commands);
// Height of what stands over its line, logical: the way on, and a door.
float height_over_foot(const CardScene& card);
// `one_line`: what is to press next stands between back and skip.
void draw_foot(const CardScene& card, const Box& box, bool one_line, bool takes_keys, Commands& commands);
// To Step, on a preset's numbers; on a sentence where its arcs are drawn. Or to a recording in Profile's timeline.
void open_by_door(const std::string& door, Commands& commands);
// How many hands of a class were counted.
void draw_hands(const CardScene& card, Pen& pen, Commands& commands);

}  // namespace attn
