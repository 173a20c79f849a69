// The gradients of a backward round a ring, as a rank has them at a step.
#pragma once

#include "kernels/model/ring.h"
#include "viz/step/ring/ring_cells.h"
#include "viz/step/ring/ring_rows.h"

namespace attn {

// dQ and δ of the rank's queries, dO, and the sums of the keys that are there, into its row.
void add_gradients(const RingCells& cells, const Ring& ring, bool after_turns, RingRankRow& row);

}  // namespace attn
