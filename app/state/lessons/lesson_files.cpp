#include "app/state/lessons/lesson_files.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/files.h"
#include "kernels/base/text.h"

namespace attn {
namespace {

constexpr const char* kExercises = ".exercises";  // NN_ID.exercises.json

Result<std::string> read_words(const std::filesystem::path& file) {
  const auto bytes = read_file(file, kMaxLessonBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  std::string text(bytes->size(), '\0');
  std::transform(bytes->begin(), bytes->end(), text.begin(), [](std::byte b) { return static_cast<char>(b); });
  return text;
}

// The files of a folder with this extension, in the order of their names.
std::vector<std::filesystem::path> json_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".json") files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

// What lies beside a lesson among `files`: exercises first, for a translation has their texts too.
std::deque<std::filesystem::path> beside_lesson(const std::filesystem::path& file,
                                                const std::vector<std::filesystem::path>& files) {
  std::deque<std::filesystem::path> beside;
  for (const bool exercises : {true, false}) {
    for (const std::filesystem::path& other : files) {
      if (is_lesson_file(other) || other.stem().stem() != file.stem()) continue;
      if ((other.stem().extension() == kExercises) == exercises) beside.push_back(other);
    }
  }
  return beside;
}

Result<Lesson> read_told(const std::filesystem::path& file) {
  const auto text = read_words(file);
  if (!text) return tl::unexpected(text.error());
  return parse_lesson(*text, file.filename().string());
}

Result<void> read_beside(const std::filesystem::path& other, Lesson& lesson) {
  const auto words = read_words(other);
  if (!words) return tl::unexpected(words.error());
  const auto add = other.stem().extension() == kExercises ? add_exercises : add_translation;
  return add(*words, other.filename().string(), lesson);
}

}  // namespace

bool is_lesson_file(const std::filesystem::path& file) {
  return file.extension() == ".json" && !file.stem().has_extension();
}

Result<Lesson> read_lesson(const std::filesystem::path& file) {
  auto lesson = read_told(file);
  if (!lesson) return lesson;
  const std::filesystem::path folder = file.parent_path();
  for (const auto& other : beside_lesson(file, json_files(folder.empty() ? "." : folder)))
    if (auto added = read_beside(other, *lesson); !added) return tl::unexpected(added.error());
  return lesson;
}

FoundLessons read_lessons(const std::filesystem::path& folder) {
  LessonsReading reading(folder);
  while (!reading.step()) {
  }
  return reading.take();
}

LessonsReading::LessonsReading(const std::filesystem::path& folder) : files_(json_files(folder)) {}

void LessonsReading::end_lesson(const Result<void>& read) {
  if (read)
    found_.lessons.push_back(*std::move(lesson_));
  else
    found_.refused.push_back(read.error().message);
  lesson_.reset();
  beside_.clear();
}

bool LessonsReading::step() {
  if (lesson_) {
    const Result<void> added = beside_.empty() ? ok() : read_beside(beside_.front(), *lesson_);
    if (!beside_.empty()) beside_.pop_front();
    if (!added || beside_.empty()) end_lesson(added);
    return false;
  }
  while (next_ < files_.size() && !is_lesson_file(files_[next_])) ++next_;
  if (next_ == files_.size()) return true;
  const std::filesystem::path& file = files_[next_++];
  auto lesson = read_told(file);
  if (!lesson) {
    found_.refused.push_back(lesson.error().message);
    return false;
  }
  lesson_ = *std::move(lesson);
  beside_ = beside_lesson(file, files_);
  return false;
}

std::string no_such_beat(const Lesson& lesson, const std::string& beat) {
  std::vector<std::string_view> beats;
  beats.reserve(lesson.beats.size());
  for (const Beat& b : lesson.beats) beats.push_back(b.id);
  return phrase("Lesson '{}' has no beat '{}'; use one of {}.", lesson.id, beat,
                fmt::format("{}", fmt::join(beats, ", ")));
}

Result<void> check_lesson_place(const std::filesystem::path& folder, const LearnView& at) {
  if (at.lesson.empty()) return ok();
  const FoundLessons found = read_lessons(folder);
  const auto lesson = std::ranges::find(found.lessons, at.lesson, &Lesson::id);
  if (lesson == found.lessons.end())
    return bad_input(phrase("Unknown lesson '{}'; see attnscope lesson list.", at.lesson));
  if (!at.beat.empty() && lesson->find(at.beat) == nullptr) return bad_input(no_such_beat(*lesson, at.beat));
  return ok();
}

}  // namespace attn
