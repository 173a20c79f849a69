// The look of each order: its row in viz/step/orders/table.cpp, or one derived from its row in kernels/orders.
#pragma once

#include "kernels/recording/recording.h"
#include "viz/step/orders/look.h"

namespace attn {

const OrderLook& order_look(Order order);
// The order's at that step: while parts of the keys are merged another than before.
const OrderLook& look_at(const Recording& rec, EventIndex e);

}  // namespace attn
