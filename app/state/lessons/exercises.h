// The exercises of a lesson on the numbers of a seed: drawn so that the question has one answer and each usual mistake
// comes to another.
#pragma once

#include <cstdint>
#include <optional>

#include "app/state/lessons/lesson_runs.h"
#include "kernels/base/result.h"
#include "viz/learn/beat.h"
#include "viz/learn/lesson/lesson.h"

namespace attn {

// Ten seeds, from a multiple of ten on, give ten different sets of numbers.
constexpr std::uint64_t kUnlikeSeeds = 10;

// What the expressions of an exercise mean. The same seed gives the same numbers everywhere: in the window, on paper.
Result<ExpressionScope> exercise_scope(const Lesson& lesson, const Beat& exercise, std::uint64_t seed,
                                       const LessonFacts& runs);

// A beat as it is asked on the numbers of a seed, whatever it is; none: the lesson's own numbers, of exercises seed 0.
struct AskedBeat {
  ExpressionScope scope;
  std::int32_t row = 0;
};
Result<AskedBeat> asked_beat(const Lesson& lesson, const Beat& beat, std::optional<std::uint64_t> seed,
                             LessonRuns& runs);

// Each usual mistake, as the program itself would print it, is met by its own words.
Result<void> check_recognised(const LessonAsk& ask, const Question& question);

}  // namespace attn
