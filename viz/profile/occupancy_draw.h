#pragma once

#include "imgui.h"
#include "viz/profile/occupancy.h"

namespace attn {

// A card of `size` pixels.
void draw_occupancy(const OccupancyScene& scene, ImVec2 size);

}  // namespace attn
