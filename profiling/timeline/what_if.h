// What a change of the pipeline would bring, told from a recording without it. Derived, not measured.
#pragma once

#include <cstdint>
#include <optional>

#include "profiling/timeline/pipeline.h"

namespace attn {

// Another number of slots: the recorded block is run again, with its own durations, by the rules of its pipeline
// (kernels/recording/pipeline_replay.h). A copy that was waited for takes what it took; one that was there before
// anybody looked takes what those take that are no longer (copy_of()).
//
// What products take then is not known: part of what one took it stood behind others. So there are two rules. Either
// each takes what it took; or they wait for each other, each takes one time, and that is set so that the block takes
// what it took. A rule counts where the block as it was recorded, run again, is off by no more than 2 % (for the
// second, with a time of 1 to 1.7 times what the tensor cores need). What is told is the middle of those that count,
// and how far they are from it. Empty where none does, where too few copies were waited for, and where consumers wait
// more than 3 % of their time for Q: those waits are kept, which is wrong where they are many.
//
// The block's time with so many slots as a share of what was recorded.
struct DerivedShare {
  double share = 1, off = 0;
};
std::optional<DerivedShare> with_slots(const Timeline& t, const Pipeline& p, std::int32_t slots);

// Blocks that stay and take one query tile after the other: between two blocks of an SM nothing is, and each block but
// an SM's first begins where it first asks for a copy. The launch's time as a share of what it takes; empty where no SM
// ran two blocks.
std::optional<double> with_blocks_that_stay(const Timeline& t, const Pipeline& p);

// Consumers that take turns at handing over S, from a recording in which they take none: the block is run again, and a
// consumer hands S over only when the one before it has. The block's time as a share of what was recorded; empty where
// they take turns already, and where no rule counts, as for with_slots().
std::optional<DerivedShare> with_turns(const Timeline& t, const Pipeline& p);

// Consumers that take turns. What that brings cannot be derived from here: without turns exponentials of two consumers
// would meet otherwise than in the recording and take another time, which no recording with turns tells.
struct TurnFacts {
  double waits = 0;     // of the consumers' time: waits for a turn
  double together = 0;  // of the block's time: two consumers or more compute exponentials
};
// Empty where nobody waits for a turn.
std::optional<TurnFacts> turns_of(const Timeline& t, const Pipeline& p);

// Clocks that a copy of a key tile takes: the median. One that was waited for took as long as was seen; one that was
// not was there before anybody looked, so it counts as no longer than that (Kaplan and Meier 1958, read from the
// longest to the shortest). Empty where too few were waited for.
std::optional<double> copy_of(const Timeline& t, const Pipeline& p);

}  // namespace attn
