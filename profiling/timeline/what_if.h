// What a change of the pipeline would bring, told from a recording without it. Derived, not measured.
#pragma once

#include <cstdint>
#include <optional>

#include "profiling/timeline/pipeline.h"

namespace attn {

// Another number of slots: the recorded block is run again, with its own durations, by the rules of its pipeline
// (kernels/recording/pipeline_replay.h). A copy takes the middle of those that were waited for; the time of a product
// is set so that the block as it was recorded takes what it took. Waits for Q are kept.
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

// Consumers that take turns at handing over S. What turns bring cannot be derived: without them exponentials of two
// consumers would meet otherwise than in the recording and take another time, which no recording with turns tells.
struct TurnFacts {
  double waits = 0;     // of the consumers' time: waits for a turn
  double together = 0;  // of the block's time: two consumers or more compute exponentials
};
// Empty where nobody waits for a turn.
std::optional<TurnFacts> turns_of(const Timeline& t, const Pipeline& p);

// Clocks that a copy of a key tile takes: the middle of those that were waited for; empty where too few were.
std::optional<double> copy_of(const Timeline& t, const Pipeline& p);

}  // namespace attn
