#pragma once

#include "imgui.h"
#include "viz/profile/lab/lab.h"
#include "viz/state/commands.h"

namespace attn {

// The whole page of `size` pixels: options and figures, what became of the edit, the editor, tries and experiments.
// `rows`: the other pages have something to show.
void draw_lab(const LabScene& scene, const LabView& lab, bool rows, LabUiState& ui, ImVec2 size, Commands& commands);

}  // namespace attn
