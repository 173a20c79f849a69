// The legend under the tiles: as many entries as the lines of its box have room for, all of them in its tooltip. Where
// a card has no line for it, a "?" with the same tooltip.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/beside/legend.h"

namespace attn {

constexpr float kLegendHeight = 28;  // logical, of a line
void draw_cell_legend(const Box& box, const LegendScale& scale, LegendMarks marks);
void draw_legend_button(const Box& box, const LegendScale& scale, LegendMarks marks);
// How many lines so wide it takes, pixels; at most `most`.
int legend_lines(float width, const LegendScale& scale, LegendMarks marks, int most);

// The marks that it explains.
// A cell of a gradient: its upper right corner is cut off.
void draw_cut(ImDrawList* list, const Box& box, ImU32 fill);
// Alpha: the bar at its foot is filled as far as `share`, and leaves the rest to the number.
void draw_gauge_cell(ImDrawList* list, const Box& box, float share, ImU32 fill);
// What the bar leaves of the cell.
Box above_gauge(const Box& cell);
// A value that was computed and is gone from chip.
void draw_dropped_cell(ImDrawList* list, const Box& box, bool dot);
// One that is masked: hatched.
void draw_masked_cell(ImDrawList* list, const Box& box);
// What is not a number has no shade: NaN and infinity are plates in the text's colour, -inf one in the ground's.
ImU32 value_fill(TensorColour hue, float value, float shade);

}  // namespace attn
