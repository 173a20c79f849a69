// Whether a recorded run's answer is right.
#pragma once

#include "kernels/base/result.h"
#include "kernels/base/stop.h"
#include "kernels/judge/verdict.h"
#include "kernels/recording/recording.h"

namespace attn {

// Of every row of the recorded answer.
Result<Verdict> verdict_of(const Recording& rec, const Stop& stop);

}  // namespace attn
