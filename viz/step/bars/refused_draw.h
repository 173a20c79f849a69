// Where there is no recording to step through: why, and what can be done instead.
#pragma once

#include <string>

#include "viz/draw/canvas.h"
#include "viz/state/commands.h"
#include "viz/state/state.h"

namespace attn {

// A card at the top of `all`. `why`: the recording's error.
void draw_refused(const Box& all, const State& state, const std::string& why, Commands& commands);

}  // namespace attn
