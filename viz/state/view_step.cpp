#include "viz/state/view_step.h"

namespace attn {

std::string_view name_of(StepChart c) {
  switch (c) {
    case StepChart::row:
      return "row";
    case StepChart::hindsight:
      return "hindsight";
    case StepChart::passes:
      return "passes";
    case StepChart::error:
      return "error";
    case StepChart::attention:
      return "attention";
  }
  return "?";
}

}  // namespace attn
