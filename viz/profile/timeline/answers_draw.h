// Draws the three answers of a timeline side by side, below each other where there is no room for that.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/profile/timeline/timeline_scene.h"
#include "viz/state/commands.h"

namespace attn {

float answers_height(const PipelineScene& scene, float width);
// All SMs are below the answer about the tail; a click on them shows them large.
void draw_answers(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, Commands& commands);

}  // namespace attn
