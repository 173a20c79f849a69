// Parts of the keys, or ranks of a ring, recorded one after the other, brought side by side.
#pragma once

#include <cstdint>

#include "kernels/base/pieces.h"
#include "kernels/recording/recording.h"

namespace attn {

// Of each query tile the parts take turns: key tile by key tile, phase by phase, part by part, as blocks that run at
// once would; in each turn of a ring the ranks do. What each reads and makes stays what it was. In steps of `mark`;
// build_index() is to come after.
void interleave_lanes(Recording& rec, WalkMark& mark);

// Of a ring's run: the turn that an event is of; as many as there are ranks: it is of the end, after all turns.
std::int64_t turn_of(const Recording& rec, const EventId& id);
// Of the same batch and turn, and of heads that go round together.
bool same_turn(const Recording& rec, const EventId& a, const EventId& b);

}  // namespace attn
