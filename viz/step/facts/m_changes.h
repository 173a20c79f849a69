// Where the running maximum of one query row changes: marks on the timeline, and where "next change of m" goes. Pure.
#pragma once

#include <vector>

#include "kernels/recording/recording.h"
#include "viz/step/place/place.h"

namespace attn {

// The events in which m of query row `row` (of the whole tensor) of the place's head takes another value, in the order
// of the run. The first visible key tile counts: m rises from -inf. Empty where m never moves (a fully masked row, or
// no max subtraction).
std::vector<EventIndex> steps_where_m_changes(const Recording& rec, const StepPlace& place, std::int32_t row);

}  // namespace attn
