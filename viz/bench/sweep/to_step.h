// A problem of Bench at a size that Step can show, and the way back.
#pragma once

#include <string>
#include <string_view>

#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "viz/state/state.h"

namespace attn {

struct StepExample {
  std::string kernel;  // one that can be recorded: the same, or the first of the same order
  Problem problem;
  Options options;
  std::string words;  // what became smaller, for the log
};
// Small problems stay as they are; of others the masks, the type, the grouping of heads and the number of tiles (to
// four a side) stay.
Result<StepExample> step_example(std::string_view kernel, const Problem& p, const Options& o);

// The sweep with Step's problem, tile and kernel.
SweepSpec sweep_of_step(SweepSpec sweep, const Document& d);

}  // namespace attn
