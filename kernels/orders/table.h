// The table of orders. A program may link another table in place of this one's.
#pragma once

#include <span>
#include <vector>

#include "kernels/model/order_row.h"

namespace attn::orders {

using MakeOrder = OrderRow (*)(OrderNames&);

// By id: the first four are Order's own.
std::span<const MakeOrder> table();

OrderRow naive_order(OrderNames& names);
OrderRow tiled_order(OrderNames& names);
OrderRow flash_order(OrderNames& names);
OrderRow flash1_order(OrderNames& names);
OrderRow backward_order(OrderNames& names);
OrderRow naive_backward_order(OrderNames& names);
OrderRow backward_queries_order(OrderNames& names);
OrderRow split_order(OrderNames& names);
OrderRow ring_order(OrderNames& names);
OrderRow hopper_order(OrderNames& names);
OrderRow backward_ring_order(OrderNames& names);

}  // namespace attn::orders
