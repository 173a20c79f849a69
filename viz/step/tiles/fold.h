// What a lesson does not speak of is neither placed nor drawn, and what it speaks of has the room. Pure.
#pragma once

#include "viz/step/facts/focus.h"
#include "viz/step/tiles/tiles_scene.h"

namespace attn {

// Nothing is folded where no tile would be left: then all of them stand.
void fold_tiles(TilesScene& scene, const StepFocus& look);

}  // namespace attn
