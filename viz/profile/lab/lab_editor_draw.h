#pragma once

#include "imgui.h"
#include "viz/profile/lab/lab.h"
#include "viz/state/commands.h"

namespace attn {

// A card of `size` pixels: the text with its gutter, or how it differs from the original.
void draw_lab_editor(const LabScene& scene, const LabView& lab, LabUiState& ui, ImVec2 size, Commands& commands);

}  // namespace attn
