#pragma once

#include <imgui.h>

#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/commands.h"

namespace attn {

// What was recorded, beside its timeline: a card of `size` pixels.
void draw_recorded_panel(const PipelineScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
