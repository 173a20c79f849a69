// How values become shades: the range of each tensor over the whole recording. And a cell by its place in its tensor.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/recording/recording.h"
#include "viz/draw/inks.h"

namespace attn {

// Shade of a tensor's cells: its smallest and largest finite value over the whole recording, so that a number never
// changes its shade from step to step. P, alpha and l start at 0. Tensors of both signs part at 0: shade 0 is the value
// 0, and both directions share one reach, so that -4 and 4 are as far from it.
struct TensorScale {
  float min = 0, max = 0;
  int natural = -1;                // decimals that print every value exactly (inputs), or -1
  bool diverges = false;           // Q, K, V, S, O; see is_signed()
  bool narrow = false;             // all of one sign, close together: one half of the shades, from least to most
  bool minus_infinity = false;     // some value is, beside masked scores;
  bool overflows = false;          // some is +infinity or NaN
  float shade(float value) const;  // -1 .. 1
};
// By TensorColour; then, by the colour too, of those that are no part of that tensor: its gradient, δ.
using TensorScales = std::array<TensorScale, 2 * kTensorColourCount>;
TensorScales scales_of(const Recording& rec);
const TensorScale& scale_of(const TensorScales& scales, Slot slot);

// A cell that the pointer or the keyboard is on. Row and column as in Selection; `slot` tells the tensor.
struct CellRef {
  Slot slot = Slot::s;
  std::int32_t row = 0, col = 0;  // indices in the whole tensor: query row or key, and column
  bool operator==(const CellRef&) const = default;
};

}  // namespace attn
