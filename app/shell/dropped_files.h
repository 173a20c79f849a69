// Files that the desktop drops on the window.
#pragma once

#include <span>

#include "viz/state/commands.h"

namespace attn {

// One opens as by Ctrl+O: a session, a recording, a lesson, a kernel of one's own; several as OpenFiles. Paths in
// UTF-8.
Commands open_dropped(std::span<const char* const> paths);

}  // namespace attn
