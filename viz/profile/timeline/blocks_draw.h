// Below the lanes: where each lane's time goes, and all blocks of the launch as bands.
#pragma once

#include "imgui.h"
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/commands.h"

namespace attn {

float blocks_height(const PipelineScene& scene, float width);
// A click on a block that was recorded in detail shows its lanes.
void draw_blocks(const PipelineScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
