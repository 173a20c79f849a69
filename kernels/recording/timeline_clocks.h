// Nanoseconds from an SM's clock. The clock is exact, but its rate is not constant: the card changes it while a kernel
// runs. So time goes along the chord between the two nearest moments that both clocks told.
#pragma once

#include <cstdint>

#include "kernels/recording/timeline.h"

namespace attn {

// Sorts t.points and makes of them t.sms: each SM's mean line, and how far a moment lies from the chord of its two
// neighbours at most. That chord is twice as long as those in use: the residual is no less than their error. Never
// below the timer's own step.
void set_clocks(Timeline& t);

// Along the chord; beyond the first or last moment along the nearest; by the SM's line where it has fewer than two.
double ns_at(const Timeline& t, std::int32_t sm, std::int64_t clock);

}  // namespace attn
