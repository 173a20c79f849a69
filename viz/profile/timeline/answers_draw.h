// Draws the answers of a timeline but the pace, which is the headline: a line each, side by side.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/commands.h"

namespace attn {

float answers_height(const PipelineScene& scene, float width);
// All SMs are behind the answer about the tail, small; a click shows them large.
void draw_answers(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width, Commands& commands);

}  // namespace attn
