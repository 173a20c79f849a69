// The look of each order: its row in viz/step/orders/table.cpp, or one derived from its row in kernels/orders.
#pragma once

#include "viz/step/orders/look.h"

namespace attn {

const OrderLook& order_look(Order order);

}  // namespace attn
