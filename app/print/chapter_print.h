// A chapter on paper: its question, a figure and three exercises with room to write; the answers apart, with the way to
// each. PDF with words as words.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "kernels/base/result.h"
#include "viz/learn/lesson/lesson.h"

namespace attn {

struct PrintedChapter {
  std::filesystem::path page, answers;  // an empty one is not written
  std::uint64_t seed = 0;               // of the exercises' numbers
  std::string language = "en";
  std::string paper = "a4";  // or "letter"
};
// Where the window puts the answers to a page.
inline std::filesystem::path answers_beside(const std::filesystem::path& page) {
  return page.parent_path() / (page.stem().string() + "_answers.pdf");
}
// The error names the exercise that cannot be printed, or what is missing here.
Result<void> print_chapter(const Lesson& lesson, const PrintedChapter& options);

}  // namespace attn
