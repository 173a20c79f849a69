// The loop that times a kernel: warm up, then repeat until a rule says stop. Knows nothing of attention.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "kernels/base/clock.h"
#include "kernels/base/result.h"
#include "profiling/figures/statistics.h"

namespace attn {

// Runs `run` for `warm_up_s` seconds without keeping a time (at least once; not at all where it is 0), then keeps the
// time of each run in microseconds until `rule` stops it. The first error of `run` ends it. A stop is looked at
// between repeats: cancelled, with how far it got. `warm` is called once between the two.
Result<std::vector<double>> time_repeats(const std::function<Result<void>()>& run, double warm_up_s, StopRule rule,
                                         const Clock& clock, const std::stop_token& stop,
                                         const std::function<void()>& warm = {});

}  // namespace attn
