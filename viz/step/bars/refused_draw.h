// Where there is no recording to step through: why, what can be done instead, and the problem to change.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/problem/problem_draw.h"

namespace attn {

void draw_unrecorded(const ProblemPanel& problem, const Box& all);

}  // namespace attn
