// How to read a cell: the looks that a run's cells have, and the scale of one tensor. Under the tiles, always. Pure.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/draw/inks.h"
#include "viz/step/facts/scales.h"

namespace attn {

// In the order in which they are explained.
enum class LegendMark : std::uint8_t {
  empty,
  flight,
  dropped,
  masked,
  made,
  gradient,
  largest,
  gauge,
  past_end,
  minus_infinity,
  not_finite,
  partly,  // of a ring's map: the mask cuts a tile,
  turn,    // it is computed now,
  earlier  // or was before
};
inline constexpr std::size_t kLegendMarks = 14;
using LegendMarks = std::bitset<kLegendMarks>;

struct LegendEntry {
  LegendMark mark = LegendMark::empty;
  std::string words, narrow;
  TensorColour hue = TensorColour::s;  // of what is in flight: a pipeline's scores, a ring's keys
};
// All that the tiles, or the ranks, of a run may have at any of its steps: the legend stands still while they change.
LegendMarks legend_marks(const Recording& rec, const TensorScales& scales);
std::vector<LegendEntry> cell_legend(LegendMarks marks);

// The colours of one tensor from its least to its largest value of the run.
struct LegendScale {
  TensorColour hue = TensorColour::s;
  std::string letter, min, max;
  bool diverges = false;                 // zero is neutral, and stands at `zero`
  float first = -1, last = 1, zero = 0;  // shades of the ends; where 0 is on the bar, 0 .. 1
};
LegendScale scale_legend(Slot slot, const TensorScales& scales);

}  // namespace attn
