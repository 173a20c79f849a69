// The sums of a backward as they stood before a step: they may wait in memory between two turns, where no slot shows
// them.
#pragma once

#include "kernels/recording/recording.h"

namespace attn::orders::backward {

// dK or dV of the event's key tile with the parts of all query tiles before it; kNoVersion: nothing was added yet. Of a
// ring the parts of a rank in its turn, and at the end what the last turn left.
VersionId key_sum_before(const Recording& rec, EventIndex e, Slot sum);
// dQ of the event's query tile with the parts of all key tiles before it.
VersionId query_sum_before(const Recording& rec, EventIndex e, Slot sum);
// S of the event's tile as the product gave it: what a softcap's slope is taken of.
VersionId scores_before_mask(const Recording& rec, EventIndex e);

}  // namespace attn::orders::backward
