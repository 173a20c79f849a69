#include "app/state/lessons/lesson_files.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/files.h"

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

}  // namespace

bool is_lesson_file(const std::filesystem::path& file) {
  return file.extension() == ".json" && !file.stem().has_extension();
}

Result<Lesson> read_lesson(const std::filesystem::path& file) {
  const auto text = read_words(file);
  if (!text) return tl::unexpected(text.error());
  auto lesson = parse_lesson(*text, file.filename().string());
  if (!lesson) return lesson;
  std::filesystem::path folder = file.parent_path();
  if (folder.empty()) folder = ".";
  const auto beside = json_files(folder);
  // Exercises first: a translation has their texts too.
  for (const bool exercises : {true, false}) {
    for (const std::filesystem::path& other : beside) {
      if (is_lesson_file(other) || other.stem().stem() != file.stem()) continue;
      if ((other.stem().extension() == kExercises) != exercises) continue;
      const auto words = read_words(other);
      if (!words) return tl::unexpected(words.error());
      const auto add = exercises ? add_exercises : add_translation;
      if (auto added = add(*words, other.filename().string(), *lesson); !added) return tl::unexpected(added.error());
    }
  }
  return lesson;
}

FoundLessons read_lessons(const std::filesystem::path& folder) {
  LessonsReading reading(folder);
  while (!reading.step()) {
  }
  return reading.take();
}

LessonsReading::LessonsReading(const std::filesystem::path& folder) : files_(json_files(folder)) {
  std::erase_if(files_, [](const auto& file) { return !is_lesson_file(file); });
}

bool LessonsReading::step() {
  if (next_ == files_.size()) return true;
  auto lesson = read_lesson(files_[next_++]);
  if (lesson)
    found_.lessons.push_back(*std::move(lesson));
  else
    found_.refused.push_back(lesson.error().message);
  return next_ == files_.size();
}

}  // namespace attn
