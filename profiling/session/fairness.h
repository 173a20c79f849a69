// Whether two rows of one point may be set against each other, and what speaks against it.
#pragma once

#include <string>
#include <vector>

#include "profiling/figures/measurement.h"

namespace attn {

// What differs between two rows beside their kernels, in words that name both values, the first row's first: device,
// driver, L2 state, clocks, power limit, what held the clocks down, what took the time. Empty: nothing that is known.
// `of_a`, `of_b`: of their runs.
std::vector<std::string> unfair(const Measurement& a, const Provenance& of_a, const Measurement& b,
                                const Provenance& of_b);

}  // namespace attn
