// Draws the map of tiles.
#pragma once

#include "imgui.h"
#include "profiling/spec/sweep_spec.h"
#include "viz/bench/tiles/tile_map.h"
#include "viz/state/commands.h"

namespace attn {

// `size` in pixels. A cell that is clicked sets the sweep's tile.
void draw_tiles(const TuneMap& scene, const SweepSpec& sweep, ImVec2 size, Commands& commands);

}  // namespace attn
