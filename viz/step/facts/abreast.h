// What stands side by side in Step: parts of the keys, or the query tiles of a block's consumers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/recording/recording.h"
#include "viz/draw/text_runs.h"

namespace attn {

// How many there are; below 2: none stands beside.
std::int64_t abreast(const Recording& rec);
// The last step of one of them up to `now`, of the same head; none: it has not begun.
std::optional<EventIndex> last_abreast(const Recording& rec, EventIndex now, std::int64_t lane);

struct LaneTitle {
  std::string title;
  TextRuns words;
};
// "Part 1 of 2, keys 0 to 7"; "Consumer 0, rows 0 to 1, waits for K 2". `e`: its last step.
LaneTitle lane_title(const Recording& rec, std::int64_t lane, std::optional<EventIndex> e);

}  // namespace attn
