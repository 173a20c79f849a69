// What the chosen line became: its machine code, or its PTX.
#pragma once

#include "imgui.h"
#include "viz/profile/source/source.h"
#include "viz/state/commands.h"

namespace attn {

// The height in which all of its rows are seen, logical pixels.
float code_height(const CodeScene& code);

// Of `room` pixels for an instruction and what its warps did: the part of the latter, which yields to the operands down
// to `least`, its brief words.
float state_column(float room, float widest_text, float widest_state, float least);

// A card of `size` pixels. Of a line that was just chosen the hottest instruction is in sight.
void draw_code(const CodeScene& code, CodeKind kind, SourceUiState& ui, ImVec2 size, Commands& commands);

// The right edge of a window of lines goes pale where they go on. Called behind its content.
void fade_long_lines();

}  // namespace attn
