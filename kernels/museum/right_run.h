// What a recorded run should have been, and where it first was not.
#pragma once

#include <optional>

#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/judge/found.h"
#include "kernels/recording/recording.h"

namespace attn {

// The same problem, numbers, tile and order of keys by the CPU kernel of the ladder that walks in that order, with
// every what-if off.
Result<Recording> right_run(const Recording& rec, const Stop& stop);
// Where the run first differs from the right one, a GPU's from what its own operands give; none where it does not.
Result<std::optional<FirstWrong>> first_wrong_of(const Recording& rec, const Stop& stop);

}  // namespace attn
