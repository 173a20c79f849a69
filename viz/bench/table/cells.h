// Cells of the table under the charts: one figure of a row, with where it comes from.
#pragma once

#include <string>
#include <string_view>

#include "profiling/figures/measurement.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"

namespace attn {

BenchCell missing_cell(const std::string& reason);
std::string words_of_origin(const Figure& f);
BenchCell figure_cell(const Measurement& m, std::string_view metric, const BenchUnit& unit);
// DRAM bytes over the least; below 1 its tip says why.
BenchCell minimum_cell(const Measurement& m);

}  // namespace attn
