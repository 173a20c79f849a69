// The rows of the table, one file each.
#pragma once

#include "viz/step/orders/look.h"

namespace attn {

const OrderLook& naive_look();
const OrderLook& tiled_look();
const OrderLook& flash_look();
const OrderLook& flash1_look();
const OrderLook& backward_look();
const OrderLook& backward_queries_look();
const OrderLook& split_look();
const OrderLook& ring_look();
const OrderLook& hopper_look();
const OrderLook& backward_ring_look();

}  // namespace attn
