// The strip: where the run stands, what happened in this step, in words and with its own numbers.
#pragma once

#include "viz/draw/canvas.h"
#include "viz/step/facts/texts.h"
#include "viz/step/facts/values.h"

namespace attn {

struct StripScene {
  std::string position;  // "Step 12 of 34, query tile 0, key tile 1: α"
  Runs headline, sentence, formula;
  Ink accent;  // of the tensor that the step makes
};
StripScene strip_scene(const Recording& rec, const StepPlace& at, const StepValues& values, const StepTexts& texts);

// Text with [letters], {numbers} and ^(raised) to runs. An unknown number becomes "?".
Runs runs_of(std::string_view text, const StepValues& values, Face face, Ink ink);

// The tensor a phase makes, and its letter for the timeline ("S", "m", "÷ℓ").
Ink ink_of(Phase phase);
std::string_view letter_of(Phase phase);

// Height in pixels: 84 logical with room for the formula beside the words, more below.
void draw_step_strip(ImDrawList* list, const Box& box, const StripScene& scene);

}  // namespace attn
