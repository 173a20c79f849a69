// How to read a cell: the looks that there are, and the scale of one tensor. Under the tiles, always. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viz/draw/inks.h"
#include "viz/step/facts/scales.h"

namespace attn {

enum class LegendMark : std::uint8_t {
  empty,
  dropped,
  masked,
  past_end,
  made,
  largest,
  gradient,
  not_finite,
  flight,
  gauge,
};
struct LegendEntry {
  LegendMark mark = LegendMark::empty;
  std::string words, narrow;
};
// `gradients`: of a backward, which has no largest score. `flights`: of a pipeline, whose hardware works by itself.
// `gauges`: α is there, filled as far as it leaves the past, and no tile goes beyond the matrix: in that mark's place.
struct LegendOf {
  bool gradients = false, flights = false, gauges = false;
};
std::vector<LegendEntry> cell_legend(LegendOf of = {});

// The colours of one tensor from its least to its largest value of the run.
struct LegendScale {
  TensorColour hue = TensorColour::s;
  std::string letter, min, max;
  bool diverges = false;                 // zero is neutral, and stands at `zero`
  float first = -1, last = 1, zero = 0;  // shades of the ends; where 0 is on the bar, 0 .. 1
};
LegendScale scale_legend(Slot slot, const TensorScales& scales);

}  // namespace attn
