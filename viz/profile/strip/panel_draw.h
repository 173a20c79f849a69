#pragma once

#include <string>
#include <vector>

#include "imgui.h"
#include "viz/profile/figures/profile_scene.h"
#include "viz/state/commands.h"

namespace attn {

// What is profiled and against what, and every figure with its change: a card of `size` pixels.
// Each group with its heading, a line a figure, in what is left of the window's width.
void draw_figure_groups(const std::vector<ProfileGroup>& groups);
// What the changes are over where no menu says it, and how they are to be read.
void draw_changes_legend(const ProfileScene& scene);
void draw_profile_panel(const ProfileScene& scene, ImVec2 size, Commands& commands);
// The same in one line over the page, where the window is narrow: the figures that matter most, as many as there is
// room for, and all of them behind a button. Between a phone's edges there are two lines. The height in pixels.
constexpr float kProfileBar = 38;  // logical pixels, of one
float profile_bar_height(const ProfileScene& scene, float width);
void draw_profile_bar(const ProfileScene& scene, float width, Commands& commands);
// A figure's change: a filled triangle is better, a hollow one worse. Within the noise it is dim.
void draw_change(ImDrawList& list, ImVec2 centre, const ProfileFigure& f, ImU32 ink);
ImU32 change_ink(const ProfileFigure& f);
std::string figure_tip(const ProfileFigure& f);
// One of the kernels that can be profiled, a line.
void kernel_choice(const ProfileChoice& choice, Commands& commands);
// What an open menu of values, of measurements to set it against offers.
void value_items(const ProfileScene& scene, Commands& commands);
void against_items(const ProfileScene& scene, Commands& commands);

}  // namespace attn
