// How the shipped chapters ask: a question early, and a reply to a natural mistake of everything that is typed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/environment/paths.h"
#include "viz/learn/lesson/lesson.h"

namespace attn {
namespace {

std::vector<Lesson> shipped() {
  std::vector<Lesson> lessons;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/assets/lessons")) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::count(name, '.') != 1) continue;  // a translation, or exercises
    std::ifstream in(entry.path());
    auto lesson = parse_lesson(std::string(std::istreambuf_iterator<char>(in), {}), name);
    EXPECT_TRUE(lesson) << name;
    if (lesson) lessons.push_back(*std::move(lesson));
  }
  EXPECT_EQ(lessons.size(), 18U);
  return lessons;
}

TEST(ShippedLessons, NoneTellsTwiceBeforeItAsks) {
  for (const Lesson& lesson : shipped()) {
    const auto first = std::ranges::find_if(lesson.beats, [](const Beat& b) { return b.ask.has_value(); });
    ASSERT_NE(first, lesson.beats.end()) << lesson.id;
    EXPECT_LE(first - lesson.beats.begin(), 1) << lesson.id << " asks first in '" << first->id << "'";
  }
}

TEST(ShippedLessons, EveryTypedQuestionOfTheFirstChaptersRepliesToANaturalMistake) {
  std::size_t typed = 0;
  for (const Lesson& lesson : shipped()) {
    if (lesson.number.empty() || lesson.number.size() > 1 || lesson.number > "5") continue;
    for (const Beat& beat : lesson.beats) {
      if (!beat.ask || beat.ask->kind != AskKind::num) continue;
      ++typed;
      EXPECT_FALSE(beat.ask->wrong.empty()) << lesson.id << "." << beat.id;
    }
  }
  EXPECT_EQ(typed, 20U);
}

}  // namespace
}  // namespace attn
