// What a change of the pipeline would bring, told from a recording without it. Derived, not measured.
#pragma once

#include <cstdint>
#include <optional>

#include "profiling/timeline/pipeline.h"

namespace attn {

// Another number of slots: the recorded block is run again, with its own durations, by the rules of its pipeline. What
// a lane's own instructions took, they take again. A slot is asked for once all have let its tile go; a copy takes the
// middle of those that were waited for; products wait for each other in the order in which they were handed over, and
// each takes one time, which is set so that the block as it was recorded takes what it took. Waits for Q are kept.
// Exponentials take what they took, whoever else computes them.
//
// Empty where these rules do not explain the recording: that time of a product lies not between what the tensor cores
// need and 1.7 times as much, or the block run again is off by more than 2 %.
//
// The block's time with so many slots as a share of what was recorded.
std::optional<double> with_slots(const Timeline& t, const Pipeline& p, std::int32_t slots);

// Blocks that stay and take one query tile after the other: between two blocks of an SM nothing is, and each block but
// an SM's first begins where it first asks for a copy. The launch's time as a share of what it takes; empty where no SM
// ran two blocks.
std::optional<double> with_blocks_that_stay(const Timeline& t, const Pipeline& p);

}  // namespace attn
