// An exercise beside its card: what is given, and once it is answered the way to the answer.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/learn/card/learn_scene.h"
#include "viz/state/commands.h"

namespace attn {

void draw_exercise(const ExerciseScene& exercise, const CardScene& card, const Box& box, Commands& commands);

}  // namespace attn
