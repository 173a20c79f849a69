// All SMs of a launch in place of the lanes of one block: waves, gaps between blocks, the tail; two launches on one
// axis.
#pragma once

#include <string>

#include <imgui.h>

#include "viz/profile/timeline/bands_draw.h"
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "viz/state/commands.h"

namespace attn {

std::string sms_words();  // how bands are read
float sms_key_height(const PipelineScene& scene, float width);
// What a line's colours mean, the shown block's among them.
void draw_sms_key(ImDrawList* list, const PipelineScene& scene, ImVec2 at, float width);
// The height that all SMs need at least, and what their lines take of `room`, pixels.
float sms_height(const PipelineScene& scene);
float sms_height_in(const PipelineScene& scene, float room);
void draw_all_sms(ImDrawList* list, const PipelineScene& scene, const Box& room, Commands& commands);
// Tooltips of bands. `choose`: a click on a block that was recorded in detail shows its lanes; null: none of its blocks
// can be shown.
void point_at_bands(const char* id, const BandPlot& plot, Commands* choose);

}  // namespace attn
