// The table under the charts, drawn into the current window at the cursor.
#pragma once

#include "imgui.h"
#include "viz/bench/cache.h"
#include "viz/state/commands.h"

namespace attn {

// The height that the table wants, in pixels.
float bench_table_height(const BenchCache& cache);
void draw_bench_table(BenchCache& cache, ImVec2 size, Commands& commands);

}  // namespace attn
