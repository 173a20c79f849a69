// The phases that the order "hopper" has of its own: what the producer and the consumers of a block do beside the
// formulas. Each is the moment at which a state begins.
#pragma once

#include "kernels/model/order_row.h"

namespace attn::orders {

struct HopperNames {
  // Of the lanes that copy; the first names a consumer's rows, the others a key tile.
  Phase ask_q, wait_slot_k, ask_k, wait_slot_v, ask_v;
  // Of a consumer: before its first key tile, and with each.
  Phase take_rows, wait_q, wait_k, wait_turn, issue_s, wait_s, wait_v, issue_o, wait_o;
};

// Asked for by the row.
HopperNames hopper_names(OrderNames& names);
// The same, once the table is made.
const HopperNames& hopper_names();

}  // namespace attn::orders
