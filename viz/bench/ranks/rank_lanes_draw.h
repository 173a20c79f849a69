// Draws the lanes of measured rings.
#pragma once

#include "imgui.h"
#include "viz/bench/ranks/rank_lanes.h"
#include "viz/state/commands.h"

namespace attn {

// `size` in pixels.
void draw_rank_lanes(const RankLanesScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
