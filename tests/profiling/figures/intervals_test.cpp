// How long launches took together, where some start before others have ended.
#include "profiling/figures/intervals.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace attn {
namespace {

using Ns = std::vector<Interval<std::uint64_t>>;

TEST(Intervals, ThatDoNotOverlapAreTheirSum) {
  EXPECT_EQ(union_of(Ns{{100, 130}, {130, 140}, {200, 205}}), 30 + 10 + 5U);
  EXPECT_EQ(span_of(Ns{{100, 130}, {130, 140}, {200, 205}}), 105U);
  EXPECT_EQ(union_of(std::vector<Interval<double>>{{0, 0.1}, {0.1, 0.3}}), (0.1 - 0.0) + (0.3 - 0.1))
      << "to the bit: those that touch are added, not joined";
  EXPECT_EQ(union_of(Ns{}), 0U);
  EXPECT_EQ(span_of(Ns{}), 0U);
}

TEST(Intervals, ALaunchThatStartsEarlyIsNotCountedTwice) {
  EXPECT_EQ(union_of(Ns{{100, 130}, {120, 150}}), 50U);
  EXPECT_EQ(union_of(Ns{{100, 130}, {110, 120}}), 30U) << "one within the other";
  EXPECT_EQ(union_of(Ns{{100, 200}, {110, 120}, {150, 230}, {240, 250}}), 140U) << "beyond the one before the last";
  EXPECT_EQ(span_of(Ns{{100, 200}, {110, 120}, {150, 230}, {240, 250}}), 150U);
}

TEST(Intervals, ComeInAnyOrder) {
  const Ns swapped{{200, 205}, {120, 150}, {100, 130}};
  EXPECT_EQ(united(swapped), (Ns{{100, 150}, {200, 205}}));
  EXPECT_EQ(union_of(swapped), 55U);
  EXPECT_EQ(span_of(swapped), 105U);
}

// Nanoseconds since 1970 need more digits than a double has.
TEST(Intervals, OfTimeStampsAreExact) {
  constexpr std::uint64_t kNow = 1764000000000000001;
  EXPECT_EQ(union_of(Ns{{kNow, kNow + 7}, {kNow + 5, kNow + 12}}), 12U);
}

}  // namespace
}  // namespace attn
