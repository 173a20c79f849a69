#pragma once

#include <vector>

#include "imgui.h"
#include "viz/profile/scene.h"
#include "viz/state/commands.h"

namespace attn {

// What is profiled and against what, and every figure with its change: a card of `size` pixels.
// Each group with its heading, a line a figure, in what is left of the window's width.
void draw_figure_groups(const std::vector<ProfileGroup>& groups);
void draw_profile_panel(const ProfileScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
