// The menus over a timeline: which recording is shown, and which stands below it on the same axis.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/commands.h"

namespace attn {

constexpr float kTimelineChoices = 30;  // logical pixels
void draw_timeline_choices(const PipelineScene& scene, const Box& line, Commands& commands);

}  // namespace attn
