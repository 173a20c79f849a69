// What is likely behind the first wrong step: each cause that is known is a formula, tried on the step's own operands.
// One that gives every wrong number of the step is named.
#pragma once

#include <span>
#include <string>

#include "kernels/judge/found.h"
#include "kernels/recording/replay/replay.h"

namespace attn {

// `at.event` counts in `wrong`, `right_event` in `right`. Empty where no formula fits.
std::string likely_cause(const Recording& wrong, const Recording& right, const FirstWrong& at, EventIndex right_event,
                         std::span<const WrongElement> elements);

}  // namespace attn
