// Along the ranks of a ring: what the time would be if ranks cost nothing but their share, as a line beside what was
// measured.
#pragma once

#include <optional>
#include <string_view>

#include "viz/bench/runs/slice.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/figure_text.h"

namespace attn {

// Of time and scaling along `ranks`, from the first kernel of the slice that ran as rings; none: no ring is shown, or
// the metric has no ideal.
std::optional<BenchLine> ideal_line(const BenchSlice& slice, std::string_view metric, const BenchUnit& unit);
// What its dashes are: "dashed: one rank's time / number of ranks".
std::string_view ideal_words(std::string_view metric);

}  // namespace attn
