// What a step no longer holds: computed or loaded earlier in this run, and gone from chip since. Pure.
#pragma once

#include <string>

#include "kernels/recording/recording.h"
#include "viz/step/place/place.h"

namespace attn {

// Whether the slot is empty at this step though its tile stood on chip before: not the same as "not computed yet".
bool is_dropped(const Recording& rec, const StepPlace& at, Slot slot);
// Where it went, one sentence.
std::string dropped_words(const Recording& rec, const StepPlace& at, Slot slot);

}  // namespace attn
