// From the texts' markup to runs, and the letter and ink of a phase or a slot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/recording/recording.h"
#include "viz/draw/text_runs.h"
#include "viz/step/facts/values.h"

namespace attn {

// Whether every condition in the list `when` (separated by spaces) holds.
bool holds(std::string_view when, const StepValues& values);
// Text with [letters], {numbers} and ^(raised) to runs. An unknown number becomes "?".
TextRuns runs_of(std::string_view text, const StepValues& values, Face face, Ink ink);

// The tensor a phase makes, and its letter for the timeline ("S", "m", "÷ℓ").
Ink ink_of(Phase phase);
std::string_view letter_of(Phase phase);
// Of a step: what masks the scores is called by what it does to them: "softcap, bias, mask".
std::string letter_of_step(const Recording& rec, EventIndex e);
// The same where there is room for one word: "softcap …".
std::string brief_letter_of_step(const Recording& rec, EventIndex e);
// The letter of a slot's tensor: "m" for the old and the new one.
std::string_view letter_of(Slot slot);

// " keys 4–7", " row 3": which of them a tile holds. `what`: "row", "key", "value" or "query", in English.
std::string range_words(std::string_view what, std::int32_t first, std::int32_t count);

}  // namespace attn
