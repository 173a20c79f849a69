#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/desk.h"
#include "viz/learn/held.h"
#include "viz/state/commands.h"

namespace attn {

// The figure of a beat, or words that it waits for the answer. `card`: whose question a click in it may answer.
void draw_stage_figure(const StageFigure& figure, const CardScene& card, const Box& box, LearnHeld& held,
                       Commands& commands);

}  // namespace attn
