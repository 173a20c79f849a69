#include "viz/step/orders/table.h"

namespace attn {

// The only thing in this file: a test program has a table of its own.
std::span<const OrderLook* const> order_look_table() {
  static const std::array<const OrderLook*, 10> kTable{
      &naive_look(), &tiled_look(), &flash_look(),  &flash1_look(),       &backward_look(), &backward_queries_look(),
      &split_look(), &ring_look(),  &hopper_look(), &backward_ring_look()};
  return kTable;
}

}  // namespace attn
