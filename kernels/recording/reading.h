// A GPU's recording as the formulas have it: scores scaled, exponents of e, l of a row one number.
#pragma once

#include "kernels/recording/recording.h"

namespace attn {

// Whether some version holds something else than what the formulas name.
bool differs_from_formulas(const Recording& rec);
// The same events and versions; S and m times the scale and ln 2 where the kernel left them out, l summed over its
// lanes; each number rounded to fp32 once more. What the kernel held is not in it any more: replay the recording
// itself.
Recording formula_reading(const Recording& rec);

}  // namespace attn
