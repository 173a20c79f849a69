// "Tiles on chip", drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/beside/chip.h"

namespace attn {

void draw_chip_card(ImDrawList* list, const Box& box, const ChipScene& scene);

}  // namespace attn
