// The strip: where the run stands, what happened in this step, in words and with its own numbers.
#pragma once

#include <string>

#include "viz/draw/runs.h"
#include "viz/step/facts/texts.h"
#include "viz/step/facts/values.h"

namespace attn {

struct StripScene {
  std::string position;  // "Step 12 of 34, query tile 0, key tile 1: α"
  Runs headline, sentence, formula;
  Ink accent;  // of the tensor that the step makes
};
StripScene strip_scene(const Recording& rec, const StepPlace& at, const StepValues& values, const StepTexts& texts);

}  // namespace attn
