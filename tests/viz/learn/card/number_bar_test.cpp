// The line on which a number is dragged.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "viz/learn/card/number_bar.h"
#include "viz/learn/lesson/typed_number.h"

namespace attn {
namespace {

std::vector<std::string> texts(const NumberScale& scale) {
  std::vector<std::string> all;
  for (const NumberTick& tick : ticks_of(scale)) all.push_back(tick.text);
  return all;
}

TEST(NumberBar, PlacesValuesEvenlyOrByPowersOfTen) {
  const NumberScale even{0, 2, false}, decades{1, 10000, true};
  EXPECT_DOUBLE_EQ(even.share_of(0.5), 0.25);
  EXPECT_DOUBLE_EQ(decades.share_of(100), 0.5);
  EXPECT_DOUBLE_EQ(even.share_of(-1), 0) << "what lies beyond is at the end";
  EXPECT_DOUBLE_EQ(decades.share_of(0), 0);
  EXPECT_DOUBLE_EQ(decades.share_of(1e9), 1);
}

// A hand places no more than a hundredth of the line, or two digits.
TEST(NumberBar, RoundsAsAHandCanPlace) {
  const NumberScale even{0, 1, false}, decades{1, 10000, true};
  EXPECT_DOUBLE_EQ(even.value_at(0.2349), 0.23);
  EXPECT_DOUBLE_EQ(even.value_at(7), 1);
  EXPECT_DOUBLE_EQ(decades.value_at(0.444), 60);  // 10^1.776 = 59.7
  EXPECT_DOUBLE_EQ(decades.value_at(1), 10000);
}

// Each press moves it, both ways, from whatever was typed; at the ends it stays.
TEST(NumberBar, StepsByArrows) {
  const NumberScale even{0, 1, false}, decades{1, 10000, true};
  EXPECT_DOUBLE_EQ(even.stepped(0.5, 1), 0.51);
  EXPECT_DOUBLE_EQ(even.stepped(0.5, -10), 0.4);
  EXPECT_DOUBLE_EQ(even.stepped(1, 1), 1);
  double value = 1;
  int presses = 0;
  for (; value < 10000 && presses < 1000; ++presses) {
    const double next = decades.stepped(value, 1);
    ASSERT_GT(next, value);
    value = next;
  }
  EXPECT_LT(presses, 120);
  EXPECT_LT(decades.stepped(1000, -1), 1000);
}

TEST(NumberBar, TicksAreQuartersOrThePowersOfTen) {
  EXPECT_EQ(texts({0, 1, false}), (std::vector<std::string>{"0", "0.25", "0.5", "0.75", "1"}));
  EXPECT_EQ(texts({1, 10000, true}), (std::vector<std::string>{"1", "10", "100", "1000", "10000"}));
  EXPECT_EQ(texts({0.5, 20, true}), (std::vector<std::string>{"1", "10"}));
}

TEST(NumberBar, WhatIsDraggedReadsBack) {
  for (const double value : {0.0, 0.23, 60.0, 10000.0, 1.2e-5})
    EXPECT_DOUBLE_EQ(*typed_number(dragged_text(value)), value);
}

}  // namespace
}  // namespace attn
