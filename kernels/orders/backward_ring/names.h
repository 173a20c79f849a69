// The slots and phases that a backward round a ring has beyond those of a backward.
#pragma once

#include "kernels/model/order_row.h"

namespace attn::orders {

struct BackwardRingNames {
  Slot dk_came, dv_came;  // sums of dK and dV with the parts of the ranks before
  Phase send, send_sums, keep_sums, add_sums, sums_home;
};

// Asked for by the row.
BackwardRingNames backward_ring_names(OrderNames& names);
// The same, once the table is made.
const BackwardRingNames& backward_ring_names();

}  // namespace attn::orders
