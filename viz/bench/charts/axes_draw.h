// The axes of a chart by ImPlot: what they reach to, where they are labelled, how far they can be zoomed.
#pragma once

#include <cstddef>

#include "viz/bench/scene/bench_cache.h"
#include "viz/bench/scene/bench_scene.h"

namespace attn {

// Within a plot that was begun; `height` of it, pixels.
void set_chart_axes(const BenchScene& scene, std::size_t index, float height, BenchCache& cache);

}  // namespace attn
