// The sources of two kernels side by side, drawn into the current window at the cursor.
#pragma once

#include "imgui.h"
#include "viz/bench/sources/source_pair.h"
#include "viz/state/commands.h"

namespace attn {

void draw_source_pair(const SourcePairScene& scene, SourcePairUiState& ui, ImVec2 size, Commands& commands);

}  // namespace attn
