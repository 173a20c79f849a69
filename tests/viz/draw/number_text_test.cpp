#include "viz/draw/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace attn {
namespace {

// Half a unit of the last digit that a text shows.
double half_unit(const std::string& text) {
  const std::size_t e = text.find('e');
  const std::string mantissa = text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  const double decimals = point == std::string::npos ? 0 : static_cast<double>(mantissa.size() - point - 1);
  const double power = e == std::string::npos ? 0 : value_of(text.substr(e + 1));
  return 0.5 * std::pow(10.0, power - decimals);
}

TEST(NumberText, RoundsTheExactValue) {
  EXPECT_EQ(number_text(0.125, {2, false}), "0.12");  // ties go to the even digit
  EXPECT_EQ(number_text(0.375, {2, false}), "0.38");
  EXPECT_EQ(number_text(static_cast<double>(0.1F), {9, false}), "0.100000001");
  EXPECT_EQ(number_text(15.2027957955, {3, false}), "15.203");
  EXPECT_EQ(number_text(-2.5, {0, false}), "−2");
}

TEST(NumberText, NonFiniteValuesAreSpelt) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(number_text(inf, {3, false}), "∞");
  EXPECT_EQ(number_text(-inf, {3, true}), "−∞");
  EXPECT_EQ(number_text(std::nan(""), {3, false}), "nan");
  EXPECT_EQ(value_of("−∞"), -inf);
}

TEST(NumberText, WhatIsNotZeroNeverReadsAsZero) {
  EXPECT_EQ(number_text(2.0649e-4, {2, false}), "2.06e−4");
  EXPECT_EQ(number_text(-1e-30, {4, false}), "−1.00e−30");
  EXPECT_EQ(number_text(0.0, {2, false}), "0.00");
  EXPECT_EQ(number_text(-0.0, {1, false}), "0.0");
  ColumnFormat column;
  column.decimals = 3;
  column.room = 6;
  for (const double x : {1e-4, 4.9e-4, -3e-12, 1e-38}) EXPECT_NE(value_of(cell_text(x, 0, column)), 0) << x;
}

TEST(NumberText, DigitsFollowTheBound) {
  EXPECT_EQ(supported_digits(1.23456, 0, 5), 5);
  EXPECT_EQ(supported_digits(1.23456, 0.004, 5), 3);  // half a unit of 0.01
  EXPECT_EQ(supported_digits(1.23456, 0.006, 5), 2);
  EXPECT_EQ(supported_digits(1.23456, 100, 5), 1);
  EXPECT_EQ(supported_digits(1.23456, std::numeric_limits<double>::infinity(), 5), 1);
  EXPECT_EQ(supported_decimals(0.0005, 6), 3);
  EXPECT_EQ(significant_text(1.23456, 5, 0.004), "1.23");
}

TEST(NumberText, EveryTextIsWithinHalfAUnitOfItsValue) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(-10, 10);
  std::uniform_int_distribution<int> power(-30, 9), digits(1, 9), room(3, 12);
  for (int n = 0; n < 20000; ++n) {
    const double x = static_cast<float>(mantissa(random) * std::pow(10.0, power(random)));
    const std::string text = significant_text(x, digits(random));
    EXPECT_LE(std::abs(value_of(text) - x), half_unit(text) + 1e-12 * std::abs(x)) << text << " for " << x;
    const float column[] = {static_cast<float>(x), 1.5F};
    const std::string cell = cell_text(x, 0, column_format(column, {}, room(random), -1));
    EXPECT_LE(std::abs(value_of(cell) - x), half_unit(cell) + 1e-12 * std::abs(x)) << cell << " for " << x;
    EXPECT_EQ(value_of(cell) == 0, x == 0) << cell;
  }
}

TEST(NumberText, DecimalPointsOfAColumnStandInLine) {
  const float values[] = {-0.56F, 3.31F, 10.25F};
  const ColumnFormat column = column_format(values, {}, 6, -1);
  std::size_t after = 0;
  for (const float x : values) {
    const std::string text = cell_text(x, 0, column);
    const std::size_t decimals = text.size() - text.find('.');
    if (after != 0) {
      EXPECT_EQ(decimals, after) << text;
    }
    after = decimals;
    EXPECT_LE(text_length(text), 6);
  }
}

// printf writes a number and strtof reads it: as many decimals as bring it back are its own.
int decimals_that_read_back(float x) {
  for (int decimals = 0; decimals <= 4; ++decimals) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, static_cast<double>(x));
    if (std::strtof(text, nullptr) == x) return decimals;
  }
  return -1;
}

TEST(NumberText, DecimalsOfInputsAreThoseThatReadBackAsTheSameNumber) {
  std::mt19937 random(5);
  int with_decimals = 0;
  for (int n = 0; n < 200000; ++n) {
    // Any bits; numbers that were typed; and their neighbours.
    float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (n % 4 != 0) x = static_cast<float>(static_cast<double>(random() % 2000000) / std::pow(10.0, n % 7) - 50);
    if (n % 4 == 2) x = std::nextafter(x, 1e30F);
    if (!std::isfinite(x)) continue;
    const int decimals = decimals_that_read_back(x);
    ASSERT_EQ(natural_decimals({&x, 1}), decimals) << x;
    with_decimals += decimals > 0 ? 1 : 0;
  }
  EXPECT_GT(with_decimals, 10000);
  EXPECT_EQ(natural_decimals(std::vector<float>{1, 0.25F, 0.5F, -0.0F}), 2);
}

TEST(NumberText, BothSignsOfASmallNumberHaveOneForm) {
  const float values[] = {-2.2F, 0.0596F, -0.0561F};
  const ColumnFormat column = column_format(values, {}, 4, -1);
  EXPECT_EQ(cell_text(0.0596, 0, column), ".060");
  EXPECT_EQ(cell_text(-0.0561, 0, column), "−.06");
  EXPECT_EQ(cell_text(0.0596, 0.004, column), ".06");
}

// One number of five digits before the point leaves the column no decimals; the others still show what they are.
TEST(NumberText, ASmallNumberBesideALargeOneKeepsADecimal) {
  const float values[] = {12345.678F, 0.3F, -1.8F, 1.7F};
  for (const int room : {4, 5}) {
    const ColumnFormat column = column_format(values, {}, room, -1);
    EXPECT_EQ(cell_text(-1.8F, 0, column), "−1.8") << room;
    EXPECT_EQ(cell_text(1.7F, 0, column), "1.7") << room;
    EXPECT_EQ(cell_text(0.3F, 0, column), room == 4 ? ".30" : ".300");
    EXPECT_EQ(cell_text(-0.3F, 0, column), room == 4 ? "−.30" : "−.300");
  }
}

// 1.0667e8 has more digits than any bound allows; the cell allows fewer.
TEST(NumberText, ALargeNumberHasTheDigitsThatItsCellHolds) {
  const float values[] = {1.0667e8F, 1};
  const auto text = [&](int room) { return cell_text(1.0667e8F, 0, column_format(values, {}, room, -1)); };
  EXPECT_EQ(text(8), "1.0667e8");
  EXPECT_EQ(text(6), "1.07e8");
  EXPECT_EQ(text(5), "1.1e8");
  EXPECT_EQ(text(4), "1e8");
}

// Rounding may carry into a digit more than the cell was laid out for: that is no reason for a power of ten.
TEST(NumberText, ANumberThatRoundsUpToATenIsWrittenPlainly) {
  ColumnFormat column;
  column.room = 4;
  column.decimals = 1;
  EXPECT_EQ(cell_text(-0.9996, 0, column), "−1.0");
  EXPECT_EQ(cell_text(-0.996, 0, column), "−1.0");
  EXPECT_EQ(cell_text(-0.984, 0, column), "−.98");
  EXPECT_EQ(cell_text(0.9996, 0, column), "1.00");
  EXPECT_EQ(cell_text(-9.96, 0, column), "−10");
  EXPECT_EQ(cell_text(0.0091, 0, column), ".009");
  EXPECT_EQ(cell_text(-0.0031, 0, column), "−.003") << "no longer than −3e−3";
  column.room = 5;
  EXPECT_EQ(cell_text(0.0091, 0, column), ".0091");
  column.room = 4;
  column.decimals = 2;
  EXPECT_EQ(cell_text(9.9996, 0, column), "10.0");
  EXPECT_EQ(cell_text(9.98, 0, column), "9.98");
}

TEST(NumberText, InputsPrintAsTyped) {
  const float tenths[] = {0.5F, 1.5F, -2.0F}, thirds[] = {1.0F / 3};
  EXPECT_EQ(natural_decimals(tenths), 1);
  EXPECT_EQ(natural_decimals(thirds), -1);
  const ColumnFormat column = column_format(tenths, {}, 6, 1);
  EXPECT_EQ(cell_text(0.5, 0, column), "0.5");
  EXPECT_EQ(cell_text(-2.0, 0, column), "−2.0");
}

TEST(NumberText, PrintedInputsGiveThePrintedResult) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> score(-20, 20);
  for (int n = 0; n < 2000; ++n) {
    const double a = static_cast<float>(score(random)), b = a + std::abs(static_cast<float>(score(random)));
    const double operands[] = {a, b};
    const double result = static_cast<float>(std::exp(a - b));
    const auto formula = [](std::span<const double> x) { return std::exp(x[0] - x[1]); };
    const WorkedFormula w = worked_formula(formula, operands, result, 0, 4);
    ASSERT_TRUE(w.agrees);
    const double again = std::exp(value_of(w.operands[0]) - value_of(w.operands[1]));
    EXPECT_LE(std::abs(again - value_of(w.result)), half_unit(w.result) * (1 + 1e-9))
        << w.operands[0] << " " << w.operands[1] << " " << w.result;
    EXPECT_LE(std::abs(result - value_of(w.result)), half_unit(w.result) * (1 + 1e-9));
  }
}

TEST(NumberText, WritesCountsToThreeDigits) {
  EXPECT_EQ(brief_count(0), "0");
  EXPECT_EQ(brief_count(999), "999");
  EXPECT_EQ(brief_count(1000), "1.00k");
  EXPECT_EQ(brief_count(12345), "12.3k");
  EXPECT_EQ(brief_count(999499), "999k");
  EXPECT_EQ(brief_count(999500), "1.00M");
  EXPECT_EQ(brief_count(4194304), "4.19M");
  EXPECT_EQ(brief_count(99960000), "100M");
  EXPECT_EQ(brief_count(-1070000000), "-1.07G");
}

}  // namespace
}  // namespace attn
