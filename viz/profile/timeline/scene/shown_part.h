// What of a recording's scene is in sight: a part of its block, a key tile that is lit, the path where it is no net.
#pragma once

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

// What the view asks for. Of a scene with nothing to draw nothing is chosen.
void show_part(PipelineScene& scene, const ProfileView& view);

}  // namespace attn
