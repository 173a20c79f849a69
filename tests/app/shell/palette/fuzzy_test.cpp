#include "app/shell/palette/fuzzy.h"

#include <gtest/gtest.h>

#include <string>

namespace attn {
namespace {

bool finds(std::string_view query, std::string_view text) {
  return fuzzy_match(query, text).has_value();
}
int score(std::string_view query, std::string_view text) {
  const auto match = fuzzy_match(query, text);
  return match ? match->score : -1000;
}

TEST(Fuzzy, FindsByTheBeginningsOfWordsAndByWhatFollows) {
  EXPECT_TRUE(finds("lo", "late outlier"));
  EXPECT_TRUE(finds("late out", "late outlier"));
  EXPECT_TRUE(finds("OUT", "late outlier"));
  EXPECT_TRUE(finds("outlier late", "late outlier"));
  EXPECT_TRUE(finds("thm", "Theme"));
  EXPECT_TRUE(finds("", "anything"));
  EXPECT_TRUE(finds("  ", "anything"));
}

TEST(Fuzzy, EachWordOfTheQueryMustBeThere) {
  EXPECT_FALSE(finds("late inlier", "late outlier"));
  EXPECT_FALSE(finds("x", "late outlier"));
  EXPECT_FALSE(finds("x", ""));
}

TEST(Fuzzy, LettersThatAreStrewnAboutAreNoMatch) {
  EXPECT_FALSE(finds("flash", "if all was that"));
}

TEST(Fuzzy, WhatIsNearerToTheWordsScoresHigher) {
  EXPECT_GT(score("flash", "flash_simt"), score("flash", "f lash in a shell"));
  EXPECT_GT(score("dr", "DRAM read"), score("dr", "hydra"));
  EXPECT_GT(score("undo", "undo"), score("undo", "u n d o"));
}

TEST(Fuzzy, SaysWhichLettersItFound) {
  const auto match = fuzzy_match("or", "late outlier");
  ASSERT_TRUE(match);
  EXPECT_EQ(match->at, (std::vector<std::size_t>{5, 11}));
  EXPECT_EQ(fuzzy_match("late", "late outlier")->at, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(Fuzzy, LongTextsAndQueriesAreBounded) {
  EXPECT_FALSE(finds(std::string(100000, 'q'), std::string(100000, 'z')));
  EXPECT_TRUE(finds(std::string(100000, 'z'), std::string(100000, 'z')));
}

}  // namespace
}  // namespace attn
