#pragma once

#include "imgui.h"
#include "viz/profile/phases/mosaic.h"
#include "viz/state/commands.h"

namespace attn {

// Logical pixels that the card takes in a width of so many pixels; 0 where there is nothing to show.
// `low`: on a low page its cells are lower.
float mosaic_height(const MosaicScene& scene, float width, bool low = false);
// A card of `size` pixels. Clicking a phase goes to its hottest line.
// `shown`: the phase of the line that is looked at, which is framed. A right click offers its step.
struct MosaicPlace {
  gpu::CodePhase shown = gpu::CodePhase::none;
  StepThrough to_step;
  bool low = false;
};
void draw_mosaic(const MosaicScene& scene, const MosaicPlace& place, ImVec2 size, Commands& commands);

}  // namespace attn
