#include "viz/step/bars/page.h"

#include <utility>

namespace attn {

bool PageMemory::differs(const StepFocus& look, EventIndex now) {
  if (!look.names_tiles()) {
    step.reset();
    return false;
  }
  return std::exchange(step, now) != now;
}

}  // namespace attn
