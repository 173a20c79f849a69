// The line over Bench's table: the value that is looked at, the filter of rows, the choice of columns.
#pragma once

#include "viz/bench/scene/bench_cache.h"
#include "viz/state/commands.h"

namespace attn {

// `height`: of the line, pixels; the cursor then stands under it.
void draw_table_title(BenchCache& cache, float height, Commands& commands);

}  // namespace attn
