// Rules of findings.h that read what was sampled, counted and heard of a row, and what of that bounds the other rules.
#pragma once

#include "profiling/figures/measurement.h"
#include "viz/profile/figures/finding.h"

namespace attn {

// Loads of memory whose bytes do not lie side by side, where warps wait for the L1 cache's queue.
Finding uncoalesced(const Measurement& m, const FindingContext& context);
// S and P in device memory, where a kernel of the same session keeps them on the chip.
Finding stored_scores(const Measurement& m, const FindingContext& context);
// Copies of tiles that are waited for at a barrier.
Finding late_copies(const Measurement& m, const FindingContext& context);
// Warps that were picked and then held at dispatch.
Finding held_at_dispatch(const Measurement& m, const FindingContext& context);

// How many times as fast it could be at most if a warp issued in every slot that more warps could fill: in the samples
// without an issue, but for those that dispatch or a busy pipe holds. 0: it was not sampled.
double filled_slots(const Measurement& m);

}  // namespace attn
