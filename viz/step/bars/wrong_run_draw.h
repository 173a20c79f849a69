#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/bars/wrong_run.h"

namespace attn {

// What the bar takes, pixels, in a window `width` pixels wide.
float wrong_run_height(const WrongRunScene& scene, float width);
void draw_wrong_run(const Box& box, const WrongRunScene& scene, Commands& commands);

}  // namespace attn
