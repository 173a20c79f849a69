#pragma once

#include "imgui.h"
#include "viz/profile/figures/bytes_and_pipes.h"

namespace attn {

// Pixels that all of its lines take in a card of this width.
float bytes_height(const BytesScene& scene, float width);
// A card of `size` pixels.
void draw_bytes(const BytesScene& scene, ImVec2 size);

}  // namespace attn
