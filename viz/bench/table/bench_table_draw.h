// The table under the charts, drawn into the current window at the cursor.
#pragma once

#include "imgui.h"
#include "viz/bench/scene/bench_cache.h"
#include "viz/state/commands.h"

namespace attn {

// The height that the table wants at this width, and the least at which it is read without scrolling: pixels.
float bench_table_height(const BenchCache& cache, float width);
float least_bench_table_height(const BenchCache& cache, float width);
void draw_bench_table(BenchCache& cache, ImVec2 size, Commands& commands);

}  // namespace attn
