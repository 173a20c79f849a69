// What stands behind the three lines of the bar: files, exports, settings, the log.
#pragma once

#include "viz/state/commands.h"
#include "viz/state/state.h"

namespace attn {

// The items, each with its key; for a popup or a menu that is open.
void draw_bar_menu(const State& state, Commands& commands);

}  // namespace attn
