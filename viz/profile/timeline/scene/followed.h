// Where the key tile that is followed lies while it is out of sight.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {

struct FollowedElsewhere {
  std::int64_t from = 0, to = 0;  // clocks from the block's start: what a lane does with it, the nearest to the window
  bool before = false;            // the window
};
// None: no tile is followed, it is in sight, or the block has none of that number.
std::optional<FollowedElsewhere> followed_elsewhere(const PipelineScene& scene);
// A window of the same length about it, clocks.
std::pair<std::int64_t, std::int64_t> window_about(const PipelineScene& scene, const FollowedElsewhere& at);

}  // namespace attn
