// The legend under the tiles, drawn on one line: as many entries as there is room for, all of them in its tooltip.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/beside/legend.h"

namespace attn {

constexpr float kLegendHeight = 28;  // logical
void draw_cell_legend(const Box& box, const LegendScale& scale, bool gradients);

}  // namespace attn
