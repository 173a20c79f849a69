#include "viz/draw/text_runs.h"

#include <gtest/gtest.h>

#include "kernels/base/text.h"

namespace attn {
namespace {

TEST(TextRuns, OfASentenceStandWhereTheLanguageHasThem) {
  const auto sentence = [] {
    return woven(phrase("{} takes the place of {} in {} steps.", place(0), place(1), 12),
                 {letter("P", TensorColour::p), letter("S", TensorColour::s)});
  };
  const TextRuns english = sentence();
  EXPECT_EQ(plain_text(english), "P takes the place of S in 12 steps.");
  ASSERT_EQ(english.size(), 4U);
  EXPECT_EQ(english[0].face, Face::maths);
  EXPECT_EQ(english[1].face, Face::text);
  EXPECT_EQ(english[3].text, " in 12 steps.");
  Catalogue german;
  german.texts = {{"{0} takes the place of {1} in {2} steps.", "Statt {1} kommt in {2} Schritten {0}"}};
  speak(&german);
  const TextRuns other = sentence();
  speak(nullptr);
  EXPECT_EQ(plain_text(other), "Statt S kommt in 12 Schritten P");
  ASSERT_EQ(other.size(), 4U);
  EXPECT_EQ(other[1].face, Face::maths);
  EXPECT_EQ(other[3].text, "P");
}

TEST(TextRuns, OfASentenceWithoutPiecesAreItsWords) {
  const TextRuns runs = woven("None yet.", {});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs.front().text, "None yet.");
}

TEST(TextRuns, TheLastLineBeginsAfterTheLastBreak) {
  const TextRuns runs{word("first\nsecond "), letter("m", TensorColour::m), word(" = 2\n"),
                      letter("α", TensorColour::alpha), word(" = 1.")};
  EXPECT_EQ(plain_text(last_line(runs)), "α = 1.");
  EXPECT_EQ(last_line(runs).front().face, Face::maths);
  EXPECT_EQ(plain_text(last_line({word("a\nb"), word("c")})), "bc");
  EXPECT_EQ(plain_text(last_line({word("one line")})), "one line");
  EXPECT_TRUE(last_line({}).empty());
}

}  // namespace
}  // namespace attn
