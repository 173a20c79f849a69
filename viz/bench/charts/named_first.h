// Which of a chart's lines are named first where not all names have room.
#pragma once

#include <vector>

#include "viz/bench/scene/bench_scene.h"

namespace attn {

// What a reader looks for first: the chosen kernel, the run that the sentences are about, the baseline; then each
// kernel once, peers last; then the same kernels of further runs.
std::vector<const BenchLine*> named_first(std::vector<const BenchLine*> lines);

}  // namespace attn
