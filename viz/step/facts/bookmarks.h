// The user's marks on the run, as steps of a recording, and a step in words.
#pragma once

#include <string>
#include <vector>

#include "kernels/recording/recording.h"
#include "viz/state/state.h"

namespace attn {

Bookmark bookmark_of(const Recording& rec, EventIndex e);
// The marked steps that this recording has, in its order.
std::vector<EventIndex> bookmarked_steps(const Recording& rec, const std::vector<Bookmark>& bookmarks);
// "query tile 1, key tile 0: m".
std::string step_words(const Recording& rec, EventIndex e);

// The first step of `steps` (ascending) beyond `from` in `direction`, or kNoEvent.
EventIndex next_of(const std::vector<EventIndex>& steps, EventIndex from, int direction);

}  // namespace attn
