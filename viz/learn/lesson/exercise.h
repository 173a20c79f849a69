// An exercise as data: numbers that a seed draws, what follows from them, and the picture of what is given. The
// question itself is a beat's (viz/learn/lesson/lesson.h). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/result.h"

namespace attn {

struct ExpressionScope;  // viz/learn/lesson/lesson_expression.h

// One number or a list of numbers: each `from` + a whole number of steps, at most `to`, or one of a few.
struct DrawnName {
  std::string name;
  std::int32_t count = 0;  // of a list; 0: one number
  double from = 0, to = 0, step = 1;
  std::vector<double> of;  // not empty: it is one of these
};
// What follows from the drawn ones and from those before it.
struct LetName {
  std::string name, value;
};

// A row of numbers, or a bar. `label`: key of its words, after the exercise's id.
struct FigureRow {
  std::string label, values;
  std::string format;  // as in texts: "3", "d2", "i"; empty: short_number()
  bool later = false;  // empty slots until it is answered
};
// The tiles of a causal square: all are drawn, what the mask does to each only once it is answered.
struct TilesPlan {
  std::string length, br, bc;  // expressions
};
// What is given, as a picture: a table, bars on one scale, or tiles.
struct FigurePlan {
  std::string heads;    // key of the words before the columns' numbers; empty: columns have none
  std::string caption;  // key; empty: none
  std::vector<FigureRow> rows, bars;
  std::optional<TilesPlan> tiles;
};

struct ExercisePlan {
  std::vector<DrawnName> draw;
  std::vector<LetName> let;
  std::string condition;  // expression that drawn numbers must pass; empty: all do
  FigurePlan figure;
};

// Draws the numbers of `key` and computes what follows. Afterwards the scope's expressions know both.
Result<void> draw_numbers(const ExercisePlan& plan, std::uint64_t key, ExpressionScope& scope);

}  // namespace attn
