// What a beat needs before it can be shown, made in pieces of a few milliseconds: the seed of its numbers, its runs,
// and where a run first goes wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/state/lessons/lesson_runs.h"
#include "kernels/base/result.h"
#include "viz/learn/beat.h"
#include "viz/learn/lesson/lesson.h"

namespace attn {

// The numbers that a beat is shown with.
struct BeatNumbers {
  std::optional<std::uint64_t> seed;         // none: the lesson's own, or fresh ones
  std::optional<std::uint64_t> fresh_after;  // fresh ones, of a seed beyond so many
  std::uint64_t exercise_seed = 0;           // of an exercise
  std::string language;                      // of the words whose numbers are made too
};

class BeatRuns {
 public:
  // Lesson and beat must outlive it.
  BeatRuns(const Lesson& lesson, const Beat& beat, BeatNumbers numbers, std::shared_ptr<LessonSessions> sessions);
  // Makes the next piece. Whether that was the last.
  bool step();
  // What kept a seed from being found; a run that cannot be made is told of by whoever asks for it.
  const Result<void>& made() const { return made_; }

  // Once all is made.
  const std::optional<std::uint64_t>& seed() const { return numbers_.seed; }
  std::unique_ptr<LessonRuns> take();

 private:
  void seek_seed();
  void ask_for_all();

  const Lesson& lesson_;
  const Beat& beat_;
  BeatNumbers numbers_;
  std::shared_ptr<LessonSessions> sessions_;
  std::optional<FreshSeed> fresh_;  // while one is sought
  std::unique_ptr<LessonRuns> runs_;
  Result<void> made_;
};

}  // namespace attn
