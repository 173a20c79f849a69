// A small picture of each chapter: what it is about, at a glance.
#pragma once

#include <string>

#include "viz/draw/canvas.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {

// Within a circle of `radius` pixels; a chapter without a picture has its number. `strength` 0 to 1.
void draw_chapter_picture(ImDrawList* list, ImVec2 centre, float radius, const ChapterScene& chapter, float strength);

}  // namespace attn
