// What a pipeline's card says of its block: what a what-if changed, what that does, and where the rest was recorded.
#pragma once

#include <imgui.h>

#include "viz/draw/canvas.h"
#include "viz/step/facts/pipeline.h"

namespace attn {

// What was not recorded says so, wherever it is drawn. Returns where it ends.
float draw_derived(ImDrawList* list, ImVec2 at, float size);

// In as many lines as it takes. Returns its height.
float draw_note(ImDrawList* list, ImVec2 at, float width, const PipelineNote& note, bool draw);
// In one line, at its left or its right: the longest form that it has room for, all of it where the pointer rests.
void draw_note_line(ImDrawList* list, const Box& in, const PipelineNote& note, Align align);

}  // namespace attn
