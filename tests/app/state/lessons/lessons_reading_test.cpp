// Lessons and their sessions read in pieces: what comes of them is what comes of the whole.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/state/lessons/lesson_files.h"
#include "app/state/lessons/lesson_runs.h"
#include "tests/environment/paths.h"
#include "tests/kernels/temp_folder.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

fs::path shipped() {
  return fs::path(test::source_folder()) / "assets/lessons";
}

// The folder as it is shipped, with a file in the middle that is cut off and a translation that is no JSON.
class LessonsInPieces : public ::testing::Test {
 protected:
  LessonsInPieces() {
    for (const auto& file : fs::directory_iterator(shipped())) fs::copy(file.path(), folder_ / file.path().filename());
    std::ofstream(folder_ / "05_cut_off.json") << R"({"version": 1, "id": "cut-off", "beats": [{"id":)";
    std::ofstream(folder_ / "02_by_hand.xx.json") << "no JSON";
  }
  TempFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

TEST_F(LessonsInPieces, AreAFileAStepAndThoseOfTheWhole) {
  FoundLessons whole;
  std::size_t files = 0;
  std::vector<fs::path> sorted;
  for (const auto& file : fs::directory_iterator(folder_)) sorted.push_back(file.path());
  std::ranges::sort(sorted);
  for (const fs::path& file : sorted) {
    ++files;
    if (!is_lesson_file(file)) continue;
    auto lesson = read_lesson(file);
    if (lesson)
      whole.lessons.push_back(*std::move(lesson));
    else
      whole.refused.push_back(lesson.error().message);
  }
  LessonsReading reading(folder_);
  std::size_t steps = 1;
  while (!reading.step()) ++steps;
  EXPECT_TRUE(reading.step());
  const FoundLessons pieces = reading.take();
  EXPECT_GE(steps, files);
  EXPECT_EQ(whole.refused.size(), 2U);
  ASSERT_EQ(pieces.lessons.size(), whole.lessons.size());
  for (std::size_t n = 0; n < whole.lessons.size(); ++n) {
    EXPECT_EQ(pieces.lessons[n].id, whole.lessons[n].id);
    EXPECT_EQ(pieces.lessons[n].beats.size(), whole.lessons[n].beats.size());
    EXPECT_EQ(pieces.lessons[n].translations.size(), whole.lessons[n].translations.size());
  }
  EXPECT_EQ(pieces.refused, whole.refused);
  bool said = false;
  for (const std::string& why : pieces.refused) said = said || why.find("05_cut_off.json") != std::string::npos;
  EXPECT_TRUE(said);
}

TEST(LessonsReading, OfNoFolderIsDoneAtOnce) {
  LessonsReading none("");
  EXPECT_TRUE(none.step());
  EXPECT_TRUE(none.take().lessons.empty());
}

TEST(LessonPlaces, ThatThereAreNoneOfAreRefusedAndTheBeatsNamed) {
  const auto why = [](const std::string& lesson, const std::string& beat) {
    LearnView at;
    at.lesson = lesson, at.beat = beat;
    const auto checked = check_lesson_place(shipped(), at);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(why("", ""), "");
  EXPECT_EQ(why("by-hand", ""), "");
  EXPECT_EQ(why("by-hand", "tile"), "");
  EXPECT_EQ(why("by-hand", "14").find("Lesson 'by-hand' has no beat '14'; use one of tile, score, largest, "), 0U)
      << why("by-hand", "14");
  EXPECT_NE(why("by-feet", "tile").find("Unknown lesson 'by-feet'"), std::string::npos);
}

TEST(LessonSessions, AreThoseThatLessonAndBeatsNameAndOnceEach) {
  for (const Lesson& lesson : read_lessons(shipped()).lessons) {
    if (lesson.id != "few-warps") continue;
    LessonSessions known;
    EXPECT_EQ(sessions_missing(lesson, known), (std::vector<std::string>{"h100", "h100-counts"}));
    known.emplace("h100", Result<Session>(bad_input("damaged")));
    EXPECT_EQ(sessions_missing(lesson, known), (std::vector<std::string>{"h100-counts"}));
    return;
  }
  ADD_FAILURE() << "no lesson few-warps";
}

TEST(LessonSessions, OfSeveralRunsAreReadOnceAndSayWhyNot) {
  const FoundLessons found = read_lessons(shipped());
  ASSERT_FALSE(found.lessons.empty());
  const auto shared = std::make_shared<LessonSessions>();
  LessonRuns first(found.lessons.front(), std::nullopt, shared), second(found.lessons.front(), 5, shared);
  const auto a = first.session("h100-heartbeat"), b = second.session("h100-heartbeat");
  ASSERT_TRUE(a) << a.error().message;
  ASSERT_TRUE(b);
  EXPECT_EQ(*a, *b);
  EXPECT_GT((*a)->runs.size(), 0U);
  shared->emplace("broken", Result<Session>(bad_input("broken.attn is damaged")));
  const auto broken = second.session("broken");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "broken.attn is damaged");
}

}  // namespace
}  // namespace attn
