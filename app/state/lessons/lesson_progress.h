// What a learner has done: which beats were seen, answered, shown, and which mistakes were made. Kept in
// $XDG_STATE_HOME/attnscope/lessons.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "kernels/base/result.h"

namespace attn {

constexpr int kProgressVersion = 1;

struct BeatProgress {
  bool seen = false, known = false, first_try = false, shown = false;
  int tries = 0;
  bool operator==(const BeatProgress&) const = default;
};
struct LessonProgress {
  std::string last_lesson, last_beat;
  std::uint64_t repeats = 0;  // questions asked with other numbers: the next takes seeds that these did not
  std::map<std::string, std::map<std::string, BeatProgress>> beats;  // by lesson and beat
  std::map<std::string, std::map<std::string, int>> mistakes;        // by lesson and misconception
  bool operator==(const LessonProgress&) const = default;
};

std::string progress_text(const LessonProgress& progress);
// Refused as a whole where it is no such file.
Result<LessonProgress> parse_progress(std::string_view json);

// state_folder() / "lessons.json"; empty where there is no such folder.
std::filesystem::path progress_file();
// Nothing where there is no file yet.
Result<LessonProgress> load_progress(const std::filesystem::path& file);
Result<void> save_progress(const std::filesystem::path& file, const LessonProgress& progress);

}  // namespace attn
