// What of Step was brought into sight, where it is scrolled.
#pragma once

#include <optional>

#include "kernels/recording/recording.h"
#include "viz/state/state.h"
#include "viz/step/facts/focus.h"

namespace attn {

// What was brought into sight last: the tiles of a step, the cell that was pinned.
struct PageMemory {
  std::optional<EventIndex> step;
  std::optional<Selection> pinned;
  // A lesson's step begins with its tiles in sight, where it speaks of some: the card beside it has the words. Whether
  // this one is new.
  bool differs(const StepFocus& look, EventIndex now);
};

}  // namespace attn
