// The heads to choose from, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/place/place.h"
#include "viz/step/timeline/heads.h"

namespace attn {

// Width in pixels that the picker would like.
float heads_width(const HeadsScene& scene);
void draw_head_picker(const Box& box, const HeadsScene& scene, const Recording& rec, const StepPlace& at,
                      const Selection& selection, Commands& commands);

}  // namespace attn
