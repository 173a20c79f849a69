// The slots and phases that the order "split" has of its own.
#pragma once

#include <vector>

#include "kernels/model/order_row.h"

namespace attn::orders {

struct SplitNames {
  Slot m_part, alpha_part, l_part, o_part;
  Phase load_part, merge_max, merge_first, merge_second, merge_sum, merge_output;
};

// Asked for by the row.
SplitNames split_names(OrderNames& names);
// The same, once the table is made.
const SplitNames& split_names();

namespace split {

// A part's m, l and O go to memory; then they come back and are merged, two at a time (merge_phases.cpp).
OrderPhase part_done();
std::vector<OrderPhase> merge_phases(const SplitNames& n);
// The walk's steps of one merge, once the part is loaded.
void add_merge(std::vector<WalkStep>& walk, const SplitNames& n);

// How the merge is held against its formulas: split_replay.cpp, split_exact.cpp.
void replay_max(Replayer& r);
void replay_first(Replayer& r);
void replay_second(Replayer& r);
void replay_sum(Replayer& r);
void replay_output(Replayer& r);

void exact_max(ExactWalk& w);
void exact_first(ExactWalk& w);
void exact_second(ExactWalk& w);
void exact_sum(ExactWalk& w);
void exact_output(ExactWalk& w);

}  // namespace split
}  // namespace attn::orders
