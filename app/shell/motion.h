// What moves in the window without anyone doing anything.
#pragma once

#include <limits>

namespace attn {

constexpr double kNothingMoves = std::numeric_limits<double>::infinity();

// After so many seconds Dear ImGui's part of the picture will be another: a caret blinks, a tooltip's delay is over, a
// window that is measured comes to be shown, a key that is held repeats. After the frame's Render().
double seconds_to_motion();

}  // namespace attn
