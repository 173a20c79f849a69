// Menus within the kernel menu of Step.
#pragma once

#include <string>

#include "viz/state/commands.h"

namespace attn {

// The exhibits, below the kernels that are right. `now`: the kernel that is marked.
void draw_museum_menu(const std::string& now, Commands& commands);
// GPU runs that came with the program: each with the problem that it is of.
void draw_recorded_menu(const std::string& now, Commands& commands);

}  // namespace attn
