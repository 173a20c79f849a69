// The track and the scrubber, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/timeline/timeline.h"

namespace attn {

void draw_track(const Box& box, const TimelineScene& scene, Commands& commands);

}  // namespace attn
