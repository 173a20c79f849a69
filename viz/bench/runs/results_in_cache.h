// Why a kernel may move fewer bytes than the least.
#pragma once

#include <string>

#include "profiling/figures/measurement.h"

namespace attn {

// What was written while it was counted, where that is less than the results, as a sentence after another: why fewer
// bytes moved than the least. Else empty.
std::string results_in_cache(const Measurement& m, double moved, double least);

}  // namespace attn
