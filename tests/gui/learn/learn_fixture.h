// Learn in the test's window.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "app/state/lessons/exercises.h"
#include "app/state/lessons/lesson_runs.h"
#include "tests/gui/gui_fixture.h"
#include "viz/learn/beat.h"
#include "viz/learn/card/learn_scene.h"

namespace attn {

// The card of the beat that is open.
inline const CardScene& card(TestWindow& w) {
  return *w.controller().model().learn->card;
}

inline void start(TestWindow& w, const std::string& lesson, const std::string& beat = "") {
  w.controller().update({StartLesson{lesson, beat}});
  w.draw_frames(3);
}

// What the learner would answer who knows it: computed apart from the program's own showing.
struct Truth {
  Question question;
  const Beat* beat = nullptr;

  std::string number() const { return std::isinf(question.truth) ? "inf" : fmt::format("{:.9g}", question.truth); }
};
inline Truth truth_of(TestWindow& w, const Lesson& lesson, std::uint64_t repeats) {
  const Beat& beat = *lesson.find(w.state().view.learn.beat);
  std::optional<std::uint64_t> seed;
  if (beat.again && beat.again->at_once) seed = *fresh_seed(lesson, beat, repeats);
  LessonRuns runs(lesson, seed);
  if (beat.exercise) seed = w.state().view.learn.exercise_seed;
  auto asked = asked_beat(lesson, beat, seed, runs);
  return {*question_of(beat, asked->scope), &beat};
}

// From tile to tile of the map, from where Tab has come to, ticking those that are right: by keyboard.
inline void tick_by_keyboard(ImGuiTestContext* ctx, const Question& question) {
  ctx->KeyPress(ImGuiKey_Tab);
  const auto across = static_cast<std::size_t>(question.map_cols);
  for (std::size_t n = 0; n < question.right.size(); ++n) {
    if (n > 0 && n % across == 0) {
      ctx->KeyPress(ImGuiKey_DownArrow);
      for (std::size_t back = 1; back < across; ++back) ctx->KeyPress(ImGuiKey_LeftArrow);
    } else if (n > 0) {
      ctx->KeyPress(ImGuiKey_RightArrow);
    }
    if (question.right[n]) ctx->KeyPress(ImGuiKey_Space);
  }
}

}  // namespace attn
