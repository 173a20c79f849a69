// What a kernel asked of shared memory, by the best count that there is of it.
#pragma once

#include "profiling/figures/measurement.h"

namespace attn {

// The row with its figures of shared memory by what was counted at its instructions, where that was: the passes that
// they take, and those beyond what the same accesses take without a conflict. The counter of the whole range, which
// stands there else, counts passes for which no instruction of the kernel asked as well. A kernel that has no shared
// memory used none, whatever that counter says. The methods say which it is.
Measurement with_exact_shared(const Measurement& m);

// Whether its figures of shared memory are those of its instructions.
bool exact_shared(const Measurement& m);

}  // namespace attn
