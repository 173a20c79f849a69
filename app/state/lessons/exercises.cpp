#include "app/state/lessons/exercises.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/hash.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr int kDraws = 400;  // that are tried for one seed

// Numbers of one draw; none where the exercise cannot be asked on them.
Result<std::optional<ExpressionScope>> drawn_scope(const Lesson& lesson, const Beat& exercise, std::uint64_t seed,
                                                   int draw, const LessonFacts& runs) {
  ExpressionScope scope;
  static_cast<LessonFacts&>(scope) = runs;
  scope.run = exercise.run;
  scope.horizon = 0;
  const std::string name = fmt::format("{} {} {} {}", lesson.id, exercise.id, seed, draw);
  const std::uint64_t key = std::stoull(short_hash_of(name), nullptr, 16);
  if (auto drawn = draw_numbers(*exercise.exercise, key, scope); !drawn) return tl::unexpected(drawn.error());
  if (!exercise.exercise->condition.empty()) {
    const auto holds = evaluate_number(exercise.exercise->condition, scope);
    if (!holds) return bad_input(phrase("field 'if': {}", holds.error().message));
    if (*holds == 0) return std::nullopt;
  }
  const auto question = question_of(exercise, scope);
  if (!question) return tl::unexpected(question.error());
  if (!check_distinct_answers(*exercise.ask, *question) || !check_recognised(*exercise.ask, *question))
    return std::nullopt;
  return scope;
}

std::vector<std::vector<double>> numbers_of(const ExercisePlan& plan, const ExpressionScope& scope) {
  std::vector<std::vector<double>> numbers;
  numbers.reserve(plan.draw.size());
  for (const DrawnName& name : plan.draw) numbers.push_back(scope.drawn->at(name.name));
  return numbers;
}

}  // namespace

Result<ExpressionScope> exercise_scope(const Lesson& lesson, const Beat& exercise, std::uint64_t seed,
                                       const LessonFacts& runs) {
  std::vector<std::vector<std::vector<double>>> before;  // of the seeds of this ten
  for (std::uint64_t now = seed - seed % kUnlikeSeeds;; ++now) {
    std::optional<ExpressionScope> found;
    for (int draw = 0; draw < kDraws && !found; ++draw) {
      auto drawn = drawn_scope(lesson, exercise, now, draw, runs);
      if (!drawn) return tl::unexpected(drawn.error());
      if (!*drawn) continue;
      auto numbers = numbers_of(*exercise.exercise, **drawn);
      if (std::ranges::find(before, numbers) != before.end()) continue;
      before.push_back(std::move(numbers));
      found = *std::move(*drawn);
    }
    if (!found)
      return bad_input(phrase("field 'draw': none of the {} draws makes a valid question with seed {}", kDraws, now));
    if (now == seed) return *std::move(found);
  }
}

Result<AskedBeat> asked_beat(const Lesson& lesson, const Beat& beat, std::optional<std::uint64_t> seed,
                             LessonRuns& runs) {
  if (beat.exercise) {
    auto scope = exercise_scope(lesson, beat, seed.value_or(0), runs.as_function());
    if (!scope) return tl::unexpected(scope.error());
    return AskedBeat{*std::move(scope), 0};
  }
  const auto row = row_of_beat(lesson, beat, seed);
  if (!row) return tl::unexpected(row.error());
  auto scope = scope_of(beat, *row, runs.as_function());
  if (!scope) return tl::unexpected(scope.error());
  return AskedBeat{*std::move(scope), *row};
}

Result<void> check_recognised(const LessonAsk& ask, const Question& question) {
  for (std::size_t n = 0; n < question.wrong.size(); ++n) {
    const Judgement j = judge_answer(ask, question, {question.wrong[n], {}});
    if (j.right || j.text != ask.wrong[n].text)
      return bad_input(phrase("field 'wrong': '{}' gives {}, which already has the feedback '{}'", ask.wrong[n].value,
                              question.wrong[n], j.right ? "right" : j.text));
  }
  return ok();
}

}  // namespace attn
