#pragma once

#include "imgui.h"
#include "viz/profile/phases/mosaic.h"
#include "viz/profile/source/source.h"
#include "viz/state/commands.h"

namespace attn {

// What the table of phases stands beside. `shown`: the phase of the line that is looked at; `to_step`: the row in Step,
// at no phase yet.
struct PhasesPlace {
  gpu::CodePhase shown = gpu::CodePhase::none;
  const StepThrough& to_step;
};

// The height in which all of its lines are seen, logical pixels.
float phases_height(const SourceScene& scene);

// A card of `size` pixels. Where not all lines fit, the one of the phase that is shown comes into sight.
void draw_phases(const SourceScene& scene, const MosaicScene& mosaic, const PhasesPlace& place, SourceUiState& ui,
                 ImVec2 size, Commands& commands);

}  // namespace attn
