#pragma once

#include "imgui.h"
#include "viz/profile/roofline.h"

namespace attn {

// A card of `size` pixels.
void draw_roofline(const Roofline& roof, ImVec2 size);

}  // namespace attn
