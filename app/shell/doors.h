// Three doors beside the first window, for who is new here: learn it, step through numbers of one's own, measure. The
// window beside them works; they are closed by hand, and then for good.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// Whether they stand beside Step in a window whose content is of this size, pixels.
bool doors_have_room(const State& state, float width, float height);
// What they take, pixels.
float doors_width();
void draw_doors(const State& state, const Model& model, const Box& box, Commands& commands);

}  // namespace attn
