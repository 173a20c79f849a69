// The strip: where the run stands, what happened in this step, in words and with its own numbers.
#pragma once

#include <string>

#include "viz/draw/text_runs.h"
#include "viz/state/state.h"
#include "viz/step/facts/texts.h"
#include "viz/step/facts/values.h"

namespace attn {

struct StripScene {
  std::string note;      // beside the position: whose run this is, where it is not the chosen kernel's or a GPU's
  std::string position;  // "Step 12 of 34, query tile 0, key tile 1: α"
  std::string narrow;    // the same where that has no room: "12/34 · q 0 k 1 · α"
  TextRuns headline, sentence, formula;
  TextRuns why;      // the reason behind the step, for who asks; empty where there is none to give
  Ink accent;        // of the tensor that the step makes
  std::string door;  // what a press on the position does: to the step's phase in Profile; empty: it has none
};
// Where a kernel is chosen that runs on a GPU, of which there is no recording: that this is the CPU's run of that
// order, or of another one. Empty where Step shows the chosen kernel itself.
std::string stand_in_words(const State& state);
// Why there is no recording, as a sentence; that there will be one where nothing is wrong.
std::string recording_words(std::string why);
StripScene strip_scene(const Recording& rec, const StepPlace& at, const StepValues& values, const StepTexts& texts);

}  // namespace attn
