// Whether a lesson is true: every beat played on the recordings of its runs, every question answered with the truth and
// with each usual mistake, every number of every text computed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/state/lessons/lesson_runs.h"
#include "viz/learn/lesson/lesson.h"

namespace attn {

// What is wrong, a line each: "FILE, beat 'ID', field 'F': REASON". Empty where all holds.
std::vector<std::string> check_lesson(const Lesson& lesson);

// The same in pieces, for where a whole lesson must not hold up a frame: a run, a beat, a seed. The lesson outlives it.
class LessonCheck {
 public:
  explicit LessonCheck(const Lesson& lesson,
                       std::shared_ptr<LessonSessions> sessions = std::make_shared<LessonSessions>());
  ~LessonCheck();
  // Whether all is checked.
  bool step();
  std::vector<std::string> take();

 private:
  class Checker;
  std::unique_ptr<Checker> checker_;
};

}  // namespace attn
