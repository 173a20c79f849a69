// A tuning as text for a terminal.
#pragma once

#include <string>

#include "kernels/model/kernel.h"
#include "profiling/tune/tune.h"

namespace attn::cli {

// Every tile that would be tried, in the order of its turn, then those that would not and why.
std::string plan_text(const KernelRow& row, const TuneResult& r);
// The surface (Br x Bc), the best in turns with the usual one, and what was decided.
std::string result_text(const KernelRow& row, const TuneResult& r);

}  // namespace attn::cli
