// Blocks as bands, one line an SM, on an axis of nanoseconds from the launch's start.
#pragma once

#include <imgui.h>

#include "viz/draw/canvas.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

// Of a query tile by its time; the block whose lanes are shown is above all.
constexpr float kWeakestBand = 0.28F, kStrongestBand = 0.75F, kShownBand = 1;

struct BandPlot {
  const PipelineScene& scene;
  Box box;
  double axis_ns = 1;  // at the right edge
  Token ground = Token::card;
  float x_of(double ns) const { return box.min.x + box.width() * static_cast<float>(ns / axis_ns); }
  float line() const { return box.height() / static_cast<float>(scene.band_rows > 1 ? scene.band_rows : 1); }
};

// As much of the box, from its top on, as makes all lines equally high, in whole pixels. Where there is not a pixel for
// each it is the box.
Box even_lines(const Box& box, std::int32_t lines);

// Stronger where a query tile takes longer; each line hatched from its last block's end to the launch's. `named`: the
// tail says that it is one, where it has room beside what works.
void draw_bands(ImDrawList* list, const BandPlot& plot, bool named);
// The first line's SM and the last one's, from `left` to the plot.
void draw_sms(ImDrawList* list, const BandPlot& plot, float left);
const BlockBand* band_at(const BandPlot& plot, ImVec2 at);

}  // namespace attn
