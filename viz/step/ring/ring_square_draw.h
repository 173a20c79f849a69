// A square of a ring's map: what it is filled with, and where its number stands.
#pragma once

#include <optional>

#include "viz/draw/canvas.h"
#include "viz/draw/theme.h"
#include "viz/step/ring/ring_scene.h"

namespace attn {

// Opaque, over the card. `number`: what is written on the fill, or on the card where there is none (0).
struct RingSquareInks {
  ImU32 fill = 0, number = 0;
};
RingSquareInks ring_square_inks(Theme theme, RingSquareLook look);

// Where a number of `size` stands in a square: in its middle, or where the mask cuts the square, within the triangle
// below its diagonal, `margin` off its edges. None where it has no room there.
std::optional<Box> ring_square_number(const Box& square, bool cut, ImVec2 size, float margin);

}  // namespace attn
