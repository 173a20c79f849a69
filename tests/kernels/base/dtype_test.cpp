#include "kernels/base/dtype.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

namespace attn {
namespace {

// A 16-bit format by its definition (IEEE 754, section 3.4), with ldexp instead of bit tricks.
struct Format16 {
  int fraction_bits;
  int bias;
  std::uint16_t infinity;
  std::function<std::uint16_t(float)> from_f32;
  std::function<std::uint16_t(double)> from_f64;
  std::function<float(std::uint16_t)> to_f32;

  // Value of a magnitude; the one at `infinity` is the power of two that would follow the largest number.
  double value(std::uint32_t magnitude) const {
    const std::uint32_t exponent = magnitude >> fraction_bits;
    const double fraction = magnitude & ((1U << fraction_bits) - 1);
    const double scale = std::ldexp(1.0, fraction_bits);
    if (exponent == 0) return std::ldexp(fraction / scale, 1 - bias);
    return std::ldexp(1 + fraction / scale, static_cast<int>(exponent) - bias);
  }
};

const Format16 kHalf{10, 15, 0x7c00, f16_from_f32, f16_from_f64, f32_from_f16};
const Format16 kBrain{7, 127, 0x7f80, bf16_from_f32, bf16_from_f64, f32_from_bf16};

class DTypeFormat : public testing::TestWithParam<const Format16*> {};
INSTANTIATE_TEST_SUITE_P(Both, DTypeFormat, testing::Values(&kHalf, &kBrain),
                         [](const auto& which) { return which.param == &kHalf ? "f16" : "bf16"; });

TEST_P(DTypeFormat, EveryFinitePatternHasTheValueOfItsDefinition) {
  const Format16& f = *GetParam();
  for (std::uint32_t bits = 0; bits < f.infinity; ++bits) {
    const auto positive = static_cast<std::uint16_t>(bits), negative = static_cast<std::uint16_t>(bits | 0x8000U);
    ASSERT_EQ(static_cast<double>(f.to_f32(positive)), f.value(bits)) << bits;
    ASSERT_EQ(static_cast<double>(f.to_f32(negative)), -f.value(bits)) << bits;
    ASSERT_TRUE(std::signbit(f.to_f32(negative))) << bits;
  }
}

TEST_P(DTypeFormat, EveryPatternComesBackFromFp32) {
  const Format16& f = *GetParam();
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(f.from_f32(f.to_f32(pattern)), pattern) << bits;  // NaN payloads too
    const bool nan = (bits & 0x7fffU) > f.infinity;
    ASSERT_EQ(std::isnan(f.to_f32(pattern)), nan) << bits;
    ASSERT_EQ(std::isinf(f.to_f32(pattern)), (bits & 0x7fffU) == f.infinity) << bits;
  }
}

TEST_P(DTypeFormat, EveryMidpointGoesToTheEvenNeighbourAndEverythingElseToTheNearer) {
  const Format16& f = *GetParam();
  for (std::uint32_t low = 0; low < f.infinity; ++low) {
    const std::uint32_t high = low + 1, even = low % 2 == 0 ? low : high;
    const double middle = (f.value(low) + f.value(high)) / 2;
    ASSERT_EQ(f.from_f64(middle), even) << low;
    ASSERT_EQ(f.from_f64(std::nextafter(middle, 0.0)), low) << low;
    ASSERT_EQ(f.from_f64(std::nextafter(middle, INFINITY)), high) << low;
    ASSERT_EQ(f.from_f64(-middle), even | 0x8000U) << low;
    const auto middle32 = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(middle32), middle) << low;
    ASSERT_EQ(f.from_f32(middle32), even) << low;
    ASSERT_EQ(f.from_f32(std::nextafter(middle32, 0.0F)), low) << low;
    ASSERT_EQ(f.from_f32(std::nextafter(middle32, INFINITY)), high) << low;
    ASSERT_EQ(f.from_f32(-middle32), even | 0x8000U) << low;
  }
}

TEST_P(DTypeFormat, NumbersBeyondTheRangeBecomeInfinityAndTinyOnesZeroWithTheirSign) {
  const Format16& f = *GetParam();
  EXPECT_EQ(f.from_f64(1e300), f.infinity);
  EXPECT_EQ(f.from_f64(-1e300), f.infinity | 0x8000U);
  EXPECT_EQ(f.from_f32(std::numeric_limits<float>::max()), f.infinity);
  EXPECT_EQ(f.from_f64(5e-324), 0);
  EXPECT_EQ(f.from_f64(-5e-324), 0x8000);
  EXPECT_EQ(f.from_f32(-0.0F), 0x8000);
}

TEST_P(DTypeFormat, NanStaysNanWhereItsPayloadIsCut) {
  const Format16& f = *GetParam();
  const auto lowest_payload = std::bit_cast<float>(0x7f800001U);
  EXPECT_GT(f.from_f32(lowest_payload) & 0x7fffU, f.infinity);
  EXPECT_GT(f.from_f64(std::bit_cast<double>(0xfff0000000000001ULL)) & 0x7fffU, f.infinity);
}

TEST(DType, KnownValues) {
  EXPECT_EQ(f16_from_f32(1.0F), 0x3c00);
  EXPECT_EQ(f16_from_f32(0.1F), 0x2e66);
  EXPECT_EQ(f16_from_f32(65504.0F), 0x7bff);
  EXPECT_EQ(f16_from_f32(65520.0F), 0x7c00);
  EXPECT_EQ(bf16_from_f32(1.0F), 0x3f80);
  EXPECT_EQ(bf16_from_f32(3.14159265F), 0x4049);
  EXPECT_EQ(bf16_from_f32(0.1F), 0x3dcd);
}

TEST(DType, Fp64IsRoundedOnce) {
  // A little above a midpoint of f16, which fp32 would take back onto the midpoint.
  const double x = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(f16_from_f64(x), 0x3c01);
  EXPECT_EQ(f16_from_f32(static_cast<float>(x)), 0x3c00);
  EXPECT_EQ(round_to(DType::f16, x), 1.0 + 0x1p-10);
  EXPECT_EQ(round_to(DType::bf16, 1.0 + 0x1p-8 + 0x1p-40), 1.0 + 0x1p-7);
}

TEST(DType, RoundToLeavesWhatTheTypeHolds) {
  EXPECT_EQ(round_to(DType::f32, 0.1), static_cast<double>(0.1F));
  EXPECT_EQ(round_to(DType::f32, 0.1F), 0.1F);
  EXPECT_EQ(round_to(DType::f16, 2049.0F), 2048.0F);
  EXPECT_EQ(round_to(DType::bf16, 257.0F), 256.0F);
}

TEST(DType, EpsilonIsTheStepAboveOne) {
  for (DType t : {DType::f32, DType::f16, DType::bf16}) {
    EXPECT_EQ(round_to(t, 1.0 + epsilon_of(t)), 1.0 + epsilon_of(t));
    EXPECT_EQ(round_to(t, 1.0 + epsilon_of(t) / 2), 1.0);
  }
}

TEST(DType, NamesComeBack) {
  for (DType t : {DType::f32, DType::f16, DType::bf16}) EXPECT_EQ(dtype_from_name(name_of(t)), t);
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_FALSE(dtype_from_name("f64"));
  EXPECT_FALSE(dtype_from_name(""));
}

}  // namespace
}  // namespace attn
