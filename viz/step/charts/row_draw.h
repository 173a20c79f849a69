// The row chart, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/charts/row.h"

namespace attn {

// Into `in`, below the card's title. `asked`: the bar that can be dragged; null: none.
void draw_row_chart(ImDrawList* list, const Box& in, const RowChartScene& scene, AskedBar* asked = nullptr);

}  // namespace attn
