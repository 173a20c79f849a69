// Which of a chart's lines are named first where not all names have room.
#pragma once

#include <vector>

#include "viz/bench/scene/bench_scene.h"

namespace attn {

// The chosen kernel; of the lines that end last the highest, the lowest and the highest peer; of the others that do,
// what a reader looks for first: the run that the sentences are about, the baseline, then each kernel once, peers last,
// then the same kernels of further runs. Lines that end earlier come last: no end of theirs is near a name.
std::vector<const BenchLine*> named_first(std::vector<const BenchLine*> lines);

}  // namespace attn
