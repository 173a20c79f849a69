#include "app/state/lessons/lesson_hands.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/state/lessons/exercises.h"
#include "app/state/lessons/lesson_runs.h"
#include "kernels/base/text.h"
#include "viz/learn/beat.h"

namespace attn {
namespace {

std::string typed(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{:.9g}", value);
}

Commands chosen(const std::vector<bool>& which) {
  Commands commands;
  for (std::size_t n = 0; n < which.size(); ++n)
    if (which[n]) commands.emplace_back(ChooseAnswer{n});
  commands.emplace_back(CheckAnswer{});
  return commands;
}

std::vector<bool> only(std::size_t count, std::size_t n) {
  std::vector<bool> which(count);
  which[n] = true;
  return which;
}

// The first usual mistake; of choices the first that is wrong.
std::optional<Commands> wrong_hands(const LessonAsk& ask, const Question& q) {
  if (ask.kind == AskKind::num) {
    const auto it = std::find_if(q.wrong.begin(), q.wrong.end(), [](double x) { return !std::isnan(x); });
    if (it == q.wrong.end()) return std::nullopt;
    return Commands{CheckAnswer{typed(*it)}};
  }
  if (ask.kind == AskKind::tiles) {
    for (const TileKind kind : {TileKind::skipped, TileKind::partial, TileKind::full}) {
      if (kind == ask.tiles) continue;
      std::vector<bool> which;
      which.reserve(q.kinds.size());
      for (const TileKind k : q.kinds) which.push_back(k == kind);
      if (std::find(which.begin(), which.end(), true) != which.end()) return chosen(which);
    }
    return std::nullopt;
  }
  const auto it = std::find(q.right.begin(), q.right.end(), false);
  if (it == q.right.end()) return std::nullopt;
  return chosen(only(q.right.size(), static_cast<std::size_t>(it - q.right.begin())));
}

Result<Question> question_at_first(const Lesson& lesson, const Beat& beat, std::uint64_t exercise_seed) {
  std::optional<std::uint64_t> seed;
  if (beat.exercise) seed = exercise_seed;
  if (beat.again && beat.again->at_once) {
    const auto fresh = fresh_seed(lesson, beat, 0);
    if (!fresh) return tl::unexpected(fresh.error());
    seed = *fresh;
  }
  LessonRuns runs(lesson, seed);
  auto asked = asked_beat(lesson, beat, seed, runs);
  if (!asked) return tl::unexpected(asked.error());
  return question_of(beat, asked->scope);
}

}  // namespace

Result<Commands> lesson_hands(const Lesson& lesson, const Beat& beat, std::string_view answer,
                              std::uint64_t exercise_seed) {
  if (!beat.ask) return bad_input(phrase("Beat '{}' of '{}' has no question.", beat.id, lesson.id));
  if (answer == "shown") return Commands{ShowAnswer{}};
  if (answer == "hint") {
    if (lesson.has_text(text_key(beat, "hint"))) return Commands{ShowHint{}};
    return bad_input(phrase("Beat '{}' of '{}' has no hint.", beat.id, lesson.id));
  }
  if (answer != "right" && answer != "wrong")
    return bad_input(phrase("Unknown answer '{}'; use right, wrong, hint or shown.", answer));
  const auto question = question_at_first(lesson, beat, exercise_seed);
  if (!question) return tl::unexpected(question.error());
  if (answer == "right")
    return beat.ask->kind == AskKind::num ? Commands{CheckAnswer{typed(question->truth)}} : chosen(question->right);
  if (auto wrong = wrong_hands(*beat.ask, *question)) return *std::move(wrong);
  return bad_input(phrase("Beat '{}' of '{}' has no common mistake.", beat.id, lesson.id));
}

}  // namespace attn
