// What a recorded run should have been, and whether it was that.
#pragma once

#include <optional>
#include <stop_token>

#include "kernels/base/result.h"
#include "kernels/judge/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/recording/recording.h"

namespace attn {

// The same problem, numbers, tile and order of keys by the CPU kernel of the ladder that walks in that order, with
// every what-if off.
Result<Recording> right_run(const Recording& rec, const std::stop_token& stop);
// Of every row of the recorded answer.
Result<Verdict> verdict_of(const Recording& rec, const std::stop_token& stop);
// Where the run first differs from the right one, a GPU's from what its own operands give; none where it does not.
Result<std::optional<FirstWrong>> first_wrong_of(const Recording& rec, const std::stop_token& stop);

}  // namespace attn
