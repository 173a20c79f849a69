// The verdict, drawn in a strip over the charts.
#pragma once

#include "viz/bench/scene/bench_cache.h"
#include "viz/state/commands.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// `folded`: the sweep panel has no room and opens from a button in the strip.
void draw_bench_strip(const State& state, const Model& model, BenchCache& cache, bool folded, Commands& commands);

}  // namespace attn
