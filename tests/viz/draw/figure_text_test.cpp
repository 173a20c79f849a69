// Figures of Bench as text, and labels set apart.
#include "viz/draw/figure_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace attn {
namespace {

TEST(BenchTexts, UnitsSuitTheRange) {
  EXPECT_EQ(value_with_unit(12100, time_unit(12100, 12100)), "12.1 ms");
  EXPECT_EQ(value_with_unit(940, time_unit(940, 940)), "940 µs");
  EXPECT_EQ(time_unit(2e6, 3e7).name, "s");
  EXPECT_EQ(time_unit(5, 3e7).name, "ms");
  EXPECT_EQ(rate_unit(0.9).name, "GFLOP/s");
  EXPECT_EQ(rate_unit(1.5).name, "TFLOP/s");
  EXPECT_EQ(bytes_text(272629760), "273 MB");
  EXPECT_EQ(bytes_text(608), "608 B");
}

TEST(BenchTexts, FactorsKeepTwoDigitsAtLeast) {
  EXPECT_EQ(times_text(1.064), "1.06");
  EXPECT_EQ(times_text(4.12), "4.1");
  EXPECT_EQ(times_text(9.97), "10");
  EXPECT_EQ(times_text(170.2), "170");
  EXPECT_EQ(times_text(0.61), "0.61");
}

TEST(BenchTexts, LabelsNeverOverlapAndStayInside) {
  const std::vector<double> wishes{50, 52, 51, 10, 99, 100, 98};
  const auto places = spread_labels(wishes, 10, 0, 100);
  ASSERT_EQ(places.size(), wishes.size());
  auto sorted = places;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) EXPECT_GE(sorted[i] - sorted[i - 1], 10 - 1e-9);
  EXPECT_GE(sorted.front(), 5);
  EXPECT_LE(sorted.back(), 95 + 1e-9);
  EXPECT_DOUBLE_EQ(places[3], 10);  // alone: where it wants to be
  EXPECT_LT(places[0], places[2]);  // in the order of the lines
  EXPECT_LT(places[2], places[1]);
}

TEST(BenchTexts, TooManyLabelsShareTheRoom) {
  const auto places = spread_labels(std::vector<double>(20, 50.0), 10, 0, 100);
  EXPECT_DOUBLE_EQ(places.front(), 2.5);
  EXPECT_DOUBLE_EQ(places.back(), 97.5);
  EXPECT_TRUE(spread_labels({}, 10, 0, 100).empty());
}

// Over all magnitudes: a share is told in digits, and what is too small for them is called small, not 1.43e-4.
TEST(BenchTexts, NoPercentageIsAPowerOfTen) {
  for (int power = -12; power <= 4; ++power) {
    for (const double digits : {1.0, 1.43, 5.0, 9.999}) {
      const double share = digits * std::pow(10.0, power);
      for (const std::string& text : {percent_text(share), value_with_unit(share, {1, "%"})}) {
        EXPECT_EQ(text.find('e'), std::string::npos) << text;
        EXPECT_TRUE(text.ends_with(" %")) << text;
        EXPECT_EQ(text == "< 0.01 %", share < 0.01) << text;
      }
    }
  }
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(percent_text(-1e-7), "> −0.01 %");
  EXPECT_EQ(percent_text(55.42), "55.4 %");
}

TEST(BenchTexts, TheEndsOfARangeDifferOrItIsOneNumber) {
  EXPECT_EQ(range_text(1571, 1574, {1e-3, "ms"}), "1.571 – 1.574 ms");
  EXPECT_EQ(range_text(1570, 1650, {1e-3, "ms"}), "1.57 – 1.65 ms");
  EXPECT_EQ(range_text(1570, 1570, {1e-3, "ms"}), "1.57 ms");
  for (double apart = 1; apart > 1e-9; apart /= 3) {
    const std::string text = range_text(100, 100 * (1 + apart), {1, "µs"});
    const std::size_t dash = text.find(" – ");
    if (dash != std::string::npos) {
      EXPECT_NE(text.substr(0, dash), text.substr(dash + 5, text.rfind(' ') - dash - 5)) << text;
    }
  }
}

}  // namespace
}  // namespace attn
