// Draws the timeline's page: the lanes of a block, where their time goes, all blocks as bands.
#pragma once

#include "imgui.h"
#include "viz/profile/timeline/timeline_scene.h"
#include "viz/state/commands.h"

namespace attn {

// What the page needs at `width` pixels; it scrolls where there is less.
float timeline_height(const PipelineScene& scene, float width);
void draw_timeline(const PipelineScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
