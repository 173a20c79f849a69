#pragma once

#include "imgui.h"
#include "viz/profile/mosaic.h"
#include "viz/state/commands.h"

namespace attn {

// Logical pixels that the card takes; 0 where there is nothing to show.
float mosaic_height(const MosaicScene& scene);
// A card of `size` pixels. Clicking a phase goes to its hottest line.
void draw_mosaic(const MosaicScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
