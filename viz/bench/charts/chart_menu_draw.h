// The head of a chart's card and the menu that the right button opens on the card.
#pragma once

#include <cstddef>

#include "viz/bench/scene/bench_cache.h"
#include "viz/state/commands.h"

namespace attn {

void draw_chart_head(std::size_t index, BenchCache& cache, Commands& commands);
void draw_chart_menu(std::size_t index, BenchCache& cache, Commands& commands);
// Back to where all of the data is seen.
void fit_chart(std::size_t index, BenchCache& cache);
void fit_charts(BenchCache& cache);

}  // namespace attn
