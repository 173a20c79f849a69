// What holds the kernel back and what would mend it, drawn: a paragraph a finding, or a line that leads to them.
#pragma once

#include <string>

#include "viz/draw/canvas.h"
#include "viz/profile/figures/profile_scene.h"
#include "viz/state/commands.h"

namespace attn {

// A paragraph each, its chip at the right; from a place of the current window. Returns their height, pixels.
float draw_findings(const ProfileScene& scene, ImVec2 from, float width, bool draw, Commands& commands);
// How many there are, as the button says it that leads to them.
std::string findings_hint(const ProfileScene& scene);
// Where they stand behind the charts: how many, and what each is worth. `seek`: on a click they come into sight.
void draw_findings_hint(const ProfileScene& scene, ImVec2 at, float right, bool& seek);

}  // namespace attn
