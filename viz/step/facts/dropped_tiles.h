// What a step no longer holds: computed or loaded earlier in this run, and gone from chip since. Pure.
#pragma once

#include <string>

#include "kernels/recording/recording.h"
#include "viz/step/place/place.h"

namespace attn {

// Whether the slot is empty at this step though its tile stood on chip before: not the same as "not computed yet".
// Also what a recording of an order that stores S keeps for its steps to be checked by, though no later pass needs it
// on chip: Q after the first, m and ℓ after the second but for the step that makes LSE of them.
bool is_dropped(const Recording& rec, const StepPlace& at, Slot slot);
// Where it went, one sentence.
std::string dropped_words(const Recording& rec, const StepPlace& at, Slot slot);

}  // namespace attn
