#pragma once

#include "imgui.h"
#include "viz/profile/source/source.h"
#include "viz/state/commands.h"

namespace attn {

// A card of `size` pixels: the source with its gutter.
void draw_source(const SourceScene& scene, const ProfileView& view, SourceUiState& ui, ImVec2 size, Commands& commands);

}  // namespace attn
