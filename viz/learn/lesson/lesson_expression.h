// The small language in which a lesson says what a number must be: sums, products and comparisons over the tensors of a
// recording, evaluated in fp64 over the recorded values. docs/lessons.md has the grammar. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/recording/recording.h"
#include "viz/learn/lesson/lesson_place.h"

namespace attn {

struct Session;  // profiling/session/session_data.h

// What an exercise has drawn, and what follows from it, by name: lists, most of one number.
using DrawnNumbers = std::map<std::string, std::vector<double>, std::less<>>;

// What a lesson's expressions can ask of its runs, by their names.
struct LessonFacts {
  std::function<Result<const Recording*>(std::string_view run)> recording_of;
  // The first wrong step as the window counts them, from 1; 0 where no step is wrong. Not set: a lesson cannot ask.
  std::function<Result<double>(std::string_view run)> first_wrong_of;
  // The session of that name, or where it is empty the one that the lesson names. Not set: a lesson cannot ask.
  std::function<Result<const Session*>(std::string_view name)> session;
  const std::map<std::string, double, std::less<>>* assumptions = nullptr;  // by their names; null: there are none
  std::shared_ptr<const DrawnNumbers> drawn;                                // null: there are none
};

// What names stand for while an expression is evaluated.
struct ExpressionScope : LessonFacts {
  std::string run = "main";       // the run that a reference without one means, and that is on screen
  LessonPlace at;                 // the place that a reference without one means
  std::int32_t row = 0;           // `row`
  std::string session_name;       // whose figures metric(), samples(), waits() and counted() read; empty: the lesson's
  std::optional<double> typed;    // `you`: what the learner answered
  EventIndex horizon = kNoEvent;  // of the run on screen, where it stands: what comes later is not told

  // Out: the latest event of `run` that made a value that was read; kNoEvent where none was. And the tensor of the
  // first reference, which colours the number in a sentence.
  EventIndex latest = kNoEvent;
  std::optional<Slot> first_slot;
  std::set<std::string, std::less<>> assumed;  // names of the assumptions that were read
  // Of the figures that were read: whose they are ("NVIDIA H100 80GB HBM3, 2026-11-21") and how they were had
  // ("measured", "derived").
  std::map<std::string, std::set<std::string>, std::less<>> figures;
};

// A list of numbers; one number where it names one element. A comparison gives 1 or 0. The error says what cannot be
// read or what the run does not hold; a reference to a place that was not computed is an error and never 0.
Result<std::vector<double>> evaluate(std::string_view text, ExpressionScope& scope);
// The same, where one number is wanted.
Result<double> evaluate_number(std::string_view text, ExpressionScope& scope);

}  // namespace attn
