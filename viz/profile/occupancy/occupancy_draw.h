#pragma once

#include "imgui.h"
#include "viz/profile/occupancy/occupancy.h"

namespace attn {

// A card of `size` pixels.
// Pixels that its words alone take at this width, of one without staircases.
float occupancy_words_height(const OccupancyScene& scene, float width);
void draw_occupancy(const OccupancyScene& scene, ImVec2 size);

}  // namespace attn
