// What a run is called.
#pragma once

#include <string>

#include "profiling/session/sweep_run.h"
#include "viz/state/runs.h"

namespace attn {

// The name that the user gave it, or run_words().
std::string words_of(const BenchRuns& runs, const SweepRun& run);

}  // namespace attn
