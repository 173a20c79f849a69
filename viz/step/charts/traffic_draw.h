// The card of HBM traffic, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/charts/traffic.h"

namespace attn {

// The whole card. `e`: the step that `scene` is of.
void draw_traffic_card(ImDrawList* list, const Box& box, const TrafficScene& scene, const Recording& rec, EventIndex e);

}  // namespace attn
