#pragma once

#include "imgui.h"
#include "viz/profile/scene.h"
#include "viz/state/commands.h"

namespace attn {

// What is profiled and against what, and every figure with its change: a card of `size` pixels.
void draw_profile_panel(const ProfileScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
