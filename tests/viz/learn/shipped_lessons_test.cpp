// How the shipped chapters ask: a question first, and a reply to a natural mistake of everything that is typed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

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

TEST(ShippedLessons, EachAsksBeforeItTells) {
  for (const Lesson& lesson : shipped()) {
    ASSERT_FALSE(lesson.beats.empty()) << lesson.id;
    EXPECT_TRUE(lesson.beats.front().ask.has_value()) << lesson.id << " tells first, in '" << lesson.beats[0].id << "'";
  }
}

// As in Step, Bench and the command line. Chapter 7 says once what papers write.
TEST(ShippedLessons, LengthAndHeadDimensionHaveOneLetterEach) {
  const std::regex value("\\{[^}]*\\}|\\[[^\\]]*\\]"), other("(^|[^A-Za-z])(N|d)([^A-Za-z']|$)|[0-9 ]Nd|N²");
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/assets/lessons")) {
    std::ifstream in(entry.path());
    const nlohmann::json file = nlohmann::json::parse(in);
    for (const auto& [key, text] : file["text"].items()) {
      if (key == "formula.say") continue;
      const std::string words = std::regex_replace(text.get<std::string>(), value, "");
      EXPECT_FALSE(std::regex_search(words, other)) << entry.path().filename() << ", " << key << ": " << words;
    }
  }
}

// What is typed, dragged or clicked: whoever misses it the usual way reads what went wrong.
TEST(ShippedLessons, EveryQuestionRepliesToTheMistakesThatComeNaturally) {
  std::size_t typed = 0, clicked = 0;
  for (const Lesson& lesson : shipped()) {
    for (const Beat& beat : lesson.beats) {
      if (!beat.ask) continue;
      const std::string where = lesson.id + "." + beat.id;
      if (beat.ask->kind == AskKind::num) {
        ++typed;
        EXPECT_GE(beat.ask->wrong.size(), 2U) << where;
      } else if (beat.ask->kind == AskKind::click) {
        ++clicked;
        EXPECT_FALSE(beat.ask->wrong.empty()) << where;
      }
    }
  }
  EXPECT_EQ(typed, 85U);
  EXPECT_EQ(clicked, 7U);
}

// Its numbers are its own: a mistake follows from them, so that it is met with other numbers too.
TEST(ShippedLessons, NoMistakeOfAQuestionWithNewNumbersIsATypedNumber) {
  for (const Lesson& lesson : shipped()) {
    for (const Beat& beat : lesson.beats) {
      if (!beat.ask || !beat.again || beat.ask->kind != AskKind::num) continue;
      for (const WrongAnswer& wrong : beat.ask->wrong)
        EXPECT_TRUE(std::ranges::any_of(wrong.value, [](unsigned char c) { return std::isalpha(c) != 0; }))
            << lesson.id << "." << beat.id << ": " << wrong.value;
    }
  }
}

}  // namespace
}  // namespace attn
