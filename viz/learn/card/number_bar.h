// The line on which a number is dragged: from where to where, even or by powers of ten, its ticks, and the rounding of
// what a hand can place. Plain values; number_bar_draw.cpp draws it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viz/draw/text_runs.h"

namespace attn {

struct NumberScale {
  double from = 0, to = 1;  // from < to; by powers of ten: both above 0
  bool decades = false;

  // Where a value lies, 0 at the left end to 1; what lies beyond is at the end.
  double share_of(double value) const;
  // The value there, rounded as a hand can place it: to 1 % of the line, or to two significant digits of powers of ten.
  double value_at(double share) const;
  // One step of the arrow keys on from `value`.
  double stepped(double value, int steps) const;
};

struct NumberTick {
  double share = 0;
  std::string text;
};
// Quarters of an even line, the powers of ten of the other.
std::vector<NumberTick> ticks_of(const NumberScale& scale);

// As the field beside it reads it again.
std::string dragged_text(double value);

// The line of a question.
struct NumberBar {
  NumberScale scale;
  std::optional<double> start;   // where the handle lies at first; none: nowhere, until it is put somewhere
  std::optional<double> beside;  // a number that is known, to compare with
  TextRuns beside_words;
  std::optional<double> truth;  // once it is answered
  std::int32_t key = -1;        // whose bar in the row's chart it is, too; -1: it is none
};

}  // namespace attn
