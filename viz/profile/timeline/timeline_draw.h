// Draws the timeline's page: the lanes of a block, where their time goes, all blocks as bands.
#pragma once

#include "imgui.h"
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/commands.h"

namespace attn {

// `room`: what is in sight of the page. Lanes end with it where they can; where each lane's time goes and all blocks
// come behind them. `with_panel`: what was recorded stands beside the page; else it is behind a button.
void draw_timeline(const PipelineScene& scene, ImVec2 room, bool with_panel, Commands& commands);

}  // namespace attn
