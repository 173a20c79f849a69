// Whether a problem can be, and whether inputs fit it: checked where either comes in.
#pragma once

#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"

namespace attn {

// Every extent >= 1, D and Dv <= 256, Hq a multiple of Hkv, sizes within 63 bits, mask and bias shapes
// that fit; pages of 1 to 256 keys, of a forward alone. The message names the value and what would do.
Result<void> validate(const Problem& p);

// Shapes and dtypes agree with the problem, and it reads nothing besides (a backward does, and pages).
Result<void> validate(const Problem& p, const Inputs& in);

}  // namespace attn
