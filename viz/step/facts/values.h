// The numbers of one step for the sentence and the formula: the texts agree with one another, printed inputs giving
// the printed result. Pure.
#pragma once

#include <cstdint>

#include "kernels/recording/recording.h"
#include "kernels/recording/replay/exact.h"
#include "viz/state/state.h"
#include "viz/step/orders/work.h"  // StepValues
#include "viz/step/place/place.h"

namespace attn {

StepValues step_values(const Recording& rec, const StepPlace& at, const Selection& selection, const ExactTile* exact);

// Bytes that the event asked of HBM.
std::uint64_t event_bytes(const Recording& rec, EventIndex e);

}  // namespace attn
