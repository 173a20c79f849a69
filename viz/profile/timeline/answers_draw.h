// Draws the three answers of a timeline side by side, below each other where there is no room for that.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/profile/timeline/timeline_scene.h"

namespace attn {

float answers_height(const PipelineScene& scene, float width);
void draw_answers(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width);

}  // namespace attn
