// The phases of a backward, as rows: what its orders share.
#pragma once

#include "kernels/orders/backward/names.h"

namespace attn::orders::backward {

OrderPhase load_o(const BackwardNames& n);
OrderPhase row_dots(const BackwardNames& n);
OrderPhase load_rows(const BackwardNames& n);
OrderPhase weights_again(const BackwardNames& n);
OrderPhase value_gradient(const BackwardNames& n);
OrderPhase weight_gradient(const BackwardNames& n);
OrderPhase score_gradient(const BackwardNames& n);
OrderPhase key_gradient(const BackwardNames& n);
OrderPhase query_gradient(const BackwardNames& n);
OrderPhase store_dkv(const BackwardNames& n);
// Of sums that wait in memory, where they are not on chip.
OrderPhase store_dkv_from_memory(const BackwardNames& n);
OrderPhase store_dq(const BackwardNames& n);

}  // namespace attn::orders::backward
