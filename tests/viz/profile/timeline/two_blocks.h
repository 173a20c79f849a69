// A recording that holds two blocks state by state, made of one that holds one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/recording/timeline.h"
#include "profiling/timeline/lane_states.h"

namespace attn {

// Another of its blocks does what the detailed one does, from its own start on.
inline Timeline with_two_blocks(Timeline t) {
  const std::int32_t shown = detailed_blocks(t).front(), other = shown == 0 ? 1 : 0;
  std::erase_if(t.lanes, [&](const TimelineLane& lane) { return lane.block == other; });
  const TimedBlock& from = t.blocks.at(static_cast<std::size_t>(shown));
  TimedBlock& to = t.blocks.at(static_cast<std::size_t>(other));
  const std::int64_t shift = to.start_clock - from.start_clock;
  to.end_clock = from.end_clock + shift;
  for (std::size_t n = 0, all = t.lanes.size(); n < all; ++n) {
    TimelineLane lane = t.lanes[n];
    if (lane.block != shown) continue;
    const auto first = static_cast<std::size_t>(lane.first);
    lane.block = other;
    lane.first = static_cast<std::int64_t>(t.events.size());
    for (std::size_t e = first; e < first + static_cast<std::size_t>(lane.count); ++e) {
      TimelineEvent event = t.events[e];
      event.at += shift;
      t.events.push_back(event);
    }
    t.lanes.push_back(lane);
  }
  return t;
}

}  // namespace attn
