#pragma once

#include "imgui.h"
#include "viz/profile/roofline/roofline.h"
#include "viz/state/commands.h"

namespace attn {

// A card of `size` pixels. `by_level`: of the chosen kernel the way to the roof of each memory.
void draw_roofline(const Roofline& roof, bool by_level, ImVec2 size, Commands& commands);
// The same with nothing to press.
void draw_roofline(const Roofline& roof, bool by_level, ImVec2 size);

}  // namespace attn
