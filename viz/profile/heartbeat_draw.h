#pragma once

#include "imgui.h"
#include "viz/profile/heartbeat.h"
#include "viz/state/commands.h"

namespace attn {

// Logical pixels that it needs to show every strip.
float heartbeat_height(const HeartbeatScene& scene);
void draw_heartbeat(const HeartbeatScene& scene, ImVec2 size, Commands& commands);

}  // namespace attn
