// The track and the scrubber, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/timeline/timeline.h"

namespace attn {

// The whole run as a line: a drag on it goes there. 36 logical pixels high.
void draw_scrubber(const Box& box, const TimelineScene& scene, Commands& commands);
void draw_track(const Box& box, const TimelineScene& scene, Commands& commands);

}  // namespace attn
