// The map, drawn. A click goes there.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/timeline/map.h"

namespace attn {

// Draws into `box`; the words go to its right part where there is room.
void draw_step_map(const Box& box, const MapScene& scene, const Recording& rec, const StepPlace& at,
                   Commands& commands);

}  // namespace attn
