// The table of this test program, in place of the program's own: its orders, and one that it does not know.
#include "kernels/orders/table.h"

#include "tests/orders/late_scale.h"

namespace attn::orders {

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
                                         backward_ring_order,
                                         late_scale_order};
  return kTable;
}

}  // namespace attn::orders
