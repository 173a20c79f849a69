// While a lesson asks, nothing on screen tells what the run computes after the step that it stands at. Pure.
#pragma once

#include <memory>

#include "kernels/recording/recording.h"
#include "viz/step/facts/focus.h"

namespace attn {

struct HiddenAnswers {
  bool on = false;
  EventIndex horizon = 0;                         // what later steps make is hidden
  bool traffic = false;                           // bytes are asked for
  bool map = false;                               // tiles are asked for
  bool traffic_later = false, map_later = false;  // not by this question: it stays hidden after its answer
  bool operator==(const HiddenAnswers&) const = default;
};

// The recording with 0 in place of everything that is made after `horizon`, the output too: whatever is drawn from it
// cannot depend on that.
std::shared_ptr<const Recording> recording_until(const Recording& rec, EventIndex horizon);

// What a lesson's beat speaks of, `look`, without the cards that are veiled: an empty one says nothing. The tiles stand
// there where nothing is left of it.
StepFocus seen_of(const StepFocus& look, const HiddenAnswers& hidden);

}  // namespace attn
