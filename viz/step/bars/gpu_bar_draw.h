#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/bars/gpu_bar.h"

namespace attn {

// What the bar takes, pixels, in a window `width` pixels wide. `low`: one line, the differences behind a button.
float gpu_bar_height(const GpuBarScene& scene, float width, bool low);
void draw_gpu_bar(const Box& box, const GpuBarScene& scene, bool low, Commands& commands);

}  // namespace attn
