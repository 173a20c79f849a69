// What a beat comes to on the recordings: the true answer, what each usual wrong one would be, the words with their
// numbers filled in, and the judgement of an answer. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/recording/recording.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/card/number_bar.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/learn/lesson/lesson_expression.h"
#include "viz/step/facts/scales.h"

namespace attn {

// What the expressions of a beat mean. `runs`: all with the same numbers.
Result<ExpressionScope> scope_of(const Beat& beat, std::int32_t row, LessonFacts runs);

// One thing that can be chosen: an option of a pick, a cell, key or row of a click, a tile of a map.
struct Choice {
  std::string words;  // key of its words; empty where `label` says it
  TextRuns label;
  std::optional<double> value;  // that the recording holds there, of a cell
  // Where a click in Step's tiles chooses it: the pinned cell.
  std::optional<Slot> slot;
  std::int32_t row = -1, col = -1;  // -1: any
  std::int32_t line = 0;            // of a kernel's text, from 1; 0: it is none
};

struct Question {
  double truth = 0;             // of num and click
  std::vector<double> wrong;    // what each of ask.wrong comes to; NaN where it is a kind of tiles
  std::vector<Choice> choices;  // of pick and click
  std::vector<bool> right;      // of choices, or of the map's tiles row by row
  std::vector<TileKind> kinds;  // of the map's tiles
  std::int32_t map_rows = 0, map_cols = 0;
  EventIndex latest = kNoEvent;  // that the truth reads
  // Of num: the cell that is asked for, where the value is one that the answer's step makes in the tile on screen.
  std::optional<CellRef> cell;
  std::optional<NumberBar> bar;  // of a drag, but for the words of what it is compared with and the truth
};
Result<Question> question_of(const Beat& beat, ExpressionScope& scope);

struct Answer {
  std::optional<double> number;  // num
  std::vector<std::size_t> chosen;
};
struct Judgement {
  bool right = false;
  std::string text;   // key of what is told, after the beat's id; empty where no usual answer was met
  std::string about;  // the misconception that it is a sign of
  // Of a number that is no usual mistake and nearly right: -1 slightly too small, 1 slightly too large.
  int near = 0;
};
Judgement judge_answer(const LessonAsk& ask, const Question& question, const Answer& answer);

// Whether a tile has no key that a query may see, some or only such.
TileKind kind_of_tile(const Recording& rec, std::int32_t b, std::int32_t i, std::int32_t j);

}  // namespace attn
