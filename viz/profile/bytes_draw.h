#pragma once

#include "imgui.h"
#include "viz/profile/bytes.h"

namespace attn {

// A card of `size` pixels.
void draw_bytes(const BytesScene& scene, ImVec2 size);

}  // namespace attn
