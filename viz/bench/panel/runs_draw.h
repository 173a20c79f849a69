// The list of runs, drawn.
#pragma once

#include "viz/bench/scene/bench_cache.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

void draw_run_list(const State& state, const Model& model, BenchCache& cache, Commands& commands);

}  // namespace attn
