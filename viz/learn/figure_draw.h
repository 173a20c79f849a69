#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/desk.h"

namespace attn {

// Beside the card of a lesson, in place of Step.
void draw_stage_figure(const StageFigure& figure, const Box& box);

}  // namespace attn
