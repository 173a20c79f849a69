// Where a new run is first shown.
#pragma once

#include "kernels/recording/recording.h"
#include "viz/state/state.h"

namespace attn {

// Its first step; of words the end of the followed word's last tile, where all that it attends to is weighed.
EventIndex first_sight(const Recording& rec, const Selection& selection);

// The same of a document of words, which is recorded for it; of any other its first step.
EventIndex first_sight(const Document& document);

}  // namespace attn
