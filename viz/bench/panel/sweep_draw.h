// The left panel of Bench: which kernels, along what, on which problem; run, cancel, save.
#pragma once

#include "viz/bench/scene/bench_cache.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

void draw_sweep_panel(const State& state, const Model& model, BenchCache& cache, Commands& commands);

}  // namespace attn
