// How a line of a chart looks: in the chart, beside its name, in a tooltip.
#pragma once

#include "imgui.h"
#include "viz/bench/scene/bench_cache.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/draw/marks.h"

namespace attn {

ImU32 ink_of(const BenchLine& line);
MarkFill fill_of(const BenchLine& line);
float thickness_of(const BenchLine& line);  // logical pixels
// The pattern that draw_patterned() knows: of its run; a peer's and an ideal are dashed in each.
std::size_t pattern_of(const BenchLine& line);
bool is_hidden(const BenchCache& cache, const BenchLine& line);
// The one under the pointer, in a chart or in the table.
bool is_pointed_at(const BenchCache& cache, const BenchLine& line);

// Its mark alone.
void draw_line_mark(ImDrawList& list, ImVec2 centre, const BenchLine& line, float radius);
// A piece of it, `width` pixels from `left`, with its mark in the middle.
void draw_line_swatch(ImDrawList& list, ImVec2 left, float width, const BenchLine& line);

}  // namespace attn
