// Steps of a recording that the timeline marks and that one can go to: the user's bookmarks, and where the running
// maximum of a row changes; a step in words. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/state/state.h"
#include "viz/step/place/place.h"

namespace attn {

Bookmark bookmark_of(const Recording& rec, EventIndex e);
// The marked steps that this recording has, in its order.
std::vector<EventIndex> bookmarked_steps(const Recording& rec, const std::vector<Bookmark>& bookmarks);
// The events in which m of query row `row` (of the whole tensor) of the place's head takes another value, in the order
// of the run. The first visible key tile counts: m rises from -inf. Empty where m never moves (a fully masked row, or
// no max subtraction).
std::vector<EventIndex> steps_where_m_changes(const Recording& rec, const StepPlace& place, std::int32_t row);
// Of keys in parts: where the second of the factors is made that merge the first two. None of another run.
std::optional<EventIndex> merge_factors(const Recording& rec);
// "query tile 1, key tile 0: m".
std::string step_words(const Recording& rec, EventIndex e);

// The first step of `steps` (ascending) beyond `from` in `direction`, or kNoEvent.
EventIndex next_of(const std::vector<EventIndex>& steps, EventIndex from, int direction);

}  // namespace attn
