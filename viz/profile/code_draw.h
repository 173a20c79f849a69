// What the chosen line became: its machine code, or its PTX.
#pragma once

#include "imgui.h"
#include "viz/profile/source.h"
#include "viz/state/commands.h"

namespace attn {

void draw_code(const CodeScene& code, CodeKind kind, ImVec2 size, Commands& commands);

}  // namespace attn
