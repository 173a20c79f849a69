// The fragments, drawn.
#pragma once

#include <string_view>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/step/charts/fragments.h"

namespace attn {

// What they take without being scrolled, pixels.
float fragments_height(float width);
// `kernel`: whose they are. Draws into `in`: choices on top, then the tile by its cells, the warp by its lanes, and the
// banks. What is pointed at is told below the lanes and lit everywhere; Ctrl C copies it.
void draw_fragments(const Box& in, std::string_view kernel, const FragmentScene& scene, Commands& commands);

}  // namespace attn
