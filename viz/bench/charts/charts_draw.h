// One chart of Bench, drawn into the current window at the cursor.
#pragma once

#include <cstddef>

#include "imgui.h"
#include "viz/bench/scene/bench_cache.h"
#include "viz/state/commands.h"

namespace attn {

// Pixels that names take under the plot of some chart where all are so wide.
float bench_names_height(const BenchCache& cache, float width);
void draw_bench_chart(std::size_t index, ImVec2 size, BenchCache& cache, Commands& commands);

}  // namespace attn
