// What the marks of a timeline mean: the shares of the critical path, and the looks of a stretch.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

// A bar of the path's shares with their words in it or beside it, and the pixels that it takes.
float path_bar_height(const PipelineScene& scene, float width);
void draw_path_bar(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width);
float timeline_key_height(const PipelineScene& scene, float width);
void draw_timeline_key(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width);

}  // namespace attn
