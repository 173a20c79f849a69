#include "kernels/orders/table.h"

namespace attn::orders {

// The only thing in this file: a test program has a table of its own.
std::span<const MakeOrder> table() {
  static constexpr MakeOrder kTable[] = {naive_order,
                                         tiled_order,
                                         flash_order,
                                         flash1_order,
                                         backward_order,
                                         naive_backward_order,
                                         backward_queries_order,
                                         split_order,
                                         ring_order,
                                         hopper_order,
                                         backward_ring_order};
  return kTable;
}

}  // namespace attn::orders
