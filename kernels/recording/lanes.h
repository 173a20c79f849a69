// Parts of the keys, recorded one after the other, brought side by side.
#pragma once

#include "kernels/recording/recording.h"

namespace attn {

// Of each query tile the parts take turns: key tile by key tile, phase by phase, part by part, as blocks that run at
// once would. What each part reads and makes stays what it was. Ends with build_index().
void interleave_lanes(Recording& rec);

}  // namespace attn
