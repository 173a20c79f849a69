// The card of HBM traffic, drawn.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/charts/traffic.h"

namespace attn {

// The whole card. `e`: the step that `scene` is of. Without `all_orders` it has this order and the one to compare with.
void draw_traffic_card(ImDrawList* list, const Box& box, const TrafficScene& scene, const Recording& rec, EventIndex e,
                       bool all_orders = true);

}  // namespace attn
