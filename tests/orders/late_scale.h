// An order for tests, which nothing of the program names: FlashAttention-2 with the product and the scale apart. It has
// two phases of its own ("product", "scale"), which replace `scores`, and a slot of its own: "raw", Q K^T as it stands.
#pragma once

#include "kernels/model/kernel.h"
#include "kernels/orders/table.h"
#include "kernels/recording/recording.h"

namespace attn {

namespace orders {
OrderRow late_scale_order(OrderNames& names);
}

// A kernel's row of that order; it can be recorded, and nothing else.
KernelRow late_scale_row();

}  // namespace attn
