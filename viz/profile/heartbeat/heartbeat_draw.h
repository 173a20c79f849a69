#pragma once

#include "imgui.h"
#include "viz/profile/heartbeat/heartbeat.h"
#include "viz/state/commands.h"

namespace attn {

// What a card of this width needs to show every strip, pixels.
float heartbeat_height(const HeartbeatScene& scene, float width);
void draw_heartbeat(const HeartbeatScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
