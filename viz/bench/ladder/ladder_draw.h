// The ladder, drawn into the current window at the cursor.
#pragma once

#include "imgui.h"
#include "viz/bench/ladder/ladder.h"
#include "viz/state/commands.h"

namespace attn {

// A rung that is clicked opens in Profile.
void draw_ladder(const LadderScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
