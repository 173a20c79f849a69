#include "kernels/formats/short_decimal.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include <fmt/format.h>

namespace attn {
namespace {

// Either nothing, or strtod()'s bits and its end.
bool reads_as_strtod(const std::string& text) {
  const char* end = nullptr;
  const auto value = short_decimal(text.c_str(), end);
  if (!value) return true;
  char* expected_end = nullptr;
  const double expected = std::strtod(text.c_str(), &expected_end);
  return std::bit_cast<std::uint64_t>(*value) == std::bit_cast<std::uint64_t>(expected) && end == expected_end;
}

bool is_short(const std::string& text) {
  const char* end = nullptr;
  return short_decimal(text.c_str(), end).has_value();
}

TEST(ShortDecimal, HasTheBitsOfStrtod) {
  std::mt19937_64 random(7);
  int shorts = 0;
  for (int n = 0; n < 300000; ++n) {
    const double x = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 120) - 100);
    const std::string text = n % 3 == 0 ? fmt::format("{}", x)
                             : n % 3 == 1
                                 ? fmt::format("{}{:.{}g}", n % 2 == 0 ? "-" : "", x, 1 + n % 17)
                                 : fmt::format("{}.{}e{}", random() % 100000, random() % 1000000000, n % 50 - 25);
    ASSERT_TRUE(reads_as_strtod(text)) << text;
    shorts += is_short(text) ? 1 : 0;
  }
  EXPECT_GT(shorts, 100000);
}

TEST(ShortDecimal, EndsWhereStrtodEnds) {
  for (const char* text : {"0", "-0", "-0.0", "1.", "1.5,", "1.5e", "1.5e+", "1.5e-,", "1e5]", "12.25e-3}", "007",
                           "1.2.3", "9007199254740992", "1e22", "1E-22", "0e0", "3-4"}) {
    EXPECT_TRUE(is_short(text)) << text;
    EXPECT_TRUE(reads_as_strtod(text)) << text;
  }
}

TEST(ShortDecimal, LeavesTheRestToStrtod) {
  for (const char* text : {"", "-", ".5", " 1", "inf", "nan", "0x10", "9007199254740993", "1e23", "1e-23", "+1",
                           "0.00000000000000000000001", "1e999999999999"})
    EXPECT_FALSE(is_short(text)) << text;
}

}  // namespace
}  // namespace attn
