// Lessons in a folder: NN_ID.json, one chapter each, beside them their exercises as NN_ID.exercises.json and
// translations as NN_ID.LANGUAGE.json.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/result.h"
#include "viz/learn/lesson/lesson.h"
#include "viz/state/view_learn.h"

namespace attn {

// One lesson with what lies beside it. The error names file, line or beat, field and reason.
Result<Lesson> read_lesson(const std::filesystem::path& file);
// Those of a folder by their file names. Translations alone are no lessons.
struct FoundLessons {
  std::vector<Lesson> lessons;
  std::vector<std::string> refused;  // a line for each file that cannot be read
};
FoundLessons read_lessons(const std::filesystem::path& folder);
// The same in pieces, for where many lessons must not hold up a frame.
class LessonsReading {
 public:
  explicit LessonsReading(const std::filesystem::path& folder);
  // Reads the next file: a lesson, or one that lies beside it. Whether all are read.
  bool step();
  FoundLessons take() { return std::move(found_); }

 private:
  void end_lesson(const Result<void>& read);

  std::vector<std::filesystem::path> files_;  // of the folder
  std::size_t next_ = 0;
  std::optional<Lesson> lesson_;              // that is being read
  std::deque<std::filesystem::path> beside_;  // what is still to be read of it
  FoundLessons found_;
};
// That a lesson has no such beat, and which it has.
std::string no_such_beat(const Lesson& lesson, const std::string& beat);
// Refuses a lesson that `folder` does not have, or a beat that the lesson does not have. Where none is named, nothing
// is refused.
Result<void> check_lesson_place(const std::filesystem::path& folder, const LearnView& at);
// Whether a file's name is that of a lesson and not of a translation.
bool is_lesson_file(const std::filesystem::path& file);

}  // namespace attn
