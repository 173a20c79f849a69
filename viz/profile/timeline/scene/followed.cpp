#include "viz/profile/timeline/scene/followed.h"

#include <algorithm>

namespace attn {

std::optional<FollowedElsewhere> followed_elsewhere(const PipelineScene& s) {
  if (s.follow < 0) return std::nullopt;
  std::optional<FollowedElsewhere> nearest;
  std::int64_t least = 0;
  for (const TimelineRow& row : s.rows) {
    if (row.kind != RowKind::computes) continue;
    for (const TimelineStretch& x : row.stretches) {
      if (x.tile != s.follow) continue;
      const std::int64_t away = std::max(s.from - x.to, x.from - s.to);
      if (away < 0) return std::nullopt;
      if (nearest && away >= least) continue;
      least = away;
      nearest = FollowedElsewhere{x.from, x.to, x.to <= s.from};
    }
  }
  return nearest;
}

std::pair<std::int64_t, std::int64_t> window_about(const PipelineScene& s, const FollowedElsewhere& at) {
  const std::int64_t span = s.to - s.from;
  const std::int64_t from =
      std::clamp<std::int64_t>((at.from + at.to - span) / 2, 0, std::max<std::int64_t>(0, s.length - span));
  return {from, from + span};
}

}  // namespace attn
