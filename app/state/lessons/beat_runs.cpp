#include "app/state/lessons/beat_runs.h"

#include <utility>

#include "app/state/lessons/exercises.h"
#include "viz/draw/text_runs.h"
#include "viz/learn/lesson/lesson_words.h"

namespace attn {

BeatRuns::BeatRuns(const Lesson& lesson, const Beat& beat, BeatNumbers numbers,
                   std::shared_ptr<LessonSessions> sessions)
    : lesson_(lesson), beat_(beat), numbers_(std::move(numbers)), sessions_(std::move(sessions)) {
  if (numbers_.fresh_after) fresh_.emplace(lesson_, beat_, *numbers_.fresh_after, sessions_);
}

bool BeatRuns::step() {
  if (fresh_) {
    seek_seed();
    return !made_;
  }
  if (runs_ == nullptr) runs_ = std::make_unique<LessonRuns>(lesson_, numbers_.seed, sessions_);
  runs_->allow_one();
  ask_for_all();
  return !runs_->held_back();
}

void BeatRuns::seek_seed() {
  const auto found = fresh_->step();
  if (!found) made_ = tl::unexpected(found.error());
  if (!found || !*found) return;
  numbers_.seed = fresh_->seed();
  fresh_.reset();
}

std::unique_ptr<LessonRuns> BeatRuns::take() {
  runs_->allow_all();
  return std::move(runs_);
}

// As the beat is shown and answered. Each asks for runs as it comes to them.
void BeatRuns::ask_for_all() {
  const auto seed = beat_.exercise ? std::optional(numbers_.exercise_seed) : numbers_.seed;
  auto asked = asked_beat(lesson_, beat_, seed, *runs_);
  if (!asked || runs_->held_back()) return;
  if (beat_.ask) (void)question_of(beat_, asked->scope);
  for (const char* part : {"title", "say", "hint", "right", "wrong", "beside", "proof", "learned"}) {
    const std::string& text = lesson_.words(text_key(beat_, part), numbers_.language);
    if (!runs_->held_back() && !text.empty()) (void)filled(text, asked->scope, Face::text, Token::text);
  }
  if (beat_.reveal.empty() || runs_->held_back()) return;
  if (beat_.reveal == kFirstWrong)
    (void)runs_->first_wrong(beat_.run);
  else
    (void)runs_->recording(run_of_answer(beat_));
}

}  // namespace attn
