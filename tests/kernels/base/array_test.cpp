#include "kernels/base/array.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

namespace attn {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::int64_t count(std::vector<std::int64_t> shape) {
  return element_count(shape);
}

TEST(Array, ElementCountRefusesWhatDoesNotFit63Bits) {
  EXPECT_EQ(count({}), 1);
  EXPECT_EQ(count({2, 3, 5}), 30);
  EXPECT_EQ(count({kMax, 1}), kMax);
  EXPECT_EQ(count({kMax, 2}), -1);
  EXPECT_EQ(count({std::int64_t{1} << 32, std::int64_t{1} << 31}), -1);
  EXPECT_EQ(count({3, -1}), -1);
  EXPECT_EQ(count({0, -1}), -1);
  EXPECT_EQ(count({kMax, kMax, 0}), 0);
}

TEST(Array, IsZeroFilledWithTheBytesOfItsType) {
  const Array a(DType::f16, {2, 3});
  EXPECT_EQ(a.size(), 6);
  EXPECT_EQ(a.bytes(), 12U);
  for (std::int64_t i = 0; i < a.size(); ++i) EXPECT_EQ(a.get(i), 0.0F);
  EXPECT_TRUE(Array().empty());
  EXPECT_TRUE(Array(DType::f32, {3, 0}).empty());
}

TEST(Array, ShapeThatCannotExistIsABugThatThrows) {
  EXPECT_THROW(Array(DType::f32, {kMax, kMax}), std::length_error);
  EXPECT_THROW(Array(DType::f32, {kMax}), std::length_error);
  EXPECT_THROW(Array(DType::f32, {-1}), std::length_error);
}

TEST(Array, SetRoundsToTheTypeAndGetWidensExactly) {
  Array a(DType::bf16, {2});
  a.set(1, 257.0F);  // between 256 and 258, to the even one
  EXPECT_EQ(a.get(1), 256.0F);
  EXPECT_EQ(a.get(0), 0.0F);
  Array h(DType::f16, {1});
  h.set(0, -0x1.8p-24F);  // halfway between the two smallest subnormals
  EXPECT_EQ(h.get(0), -0x1p-23F);
}

TEST(Array, ReadWidensARange) {
  for (DType t : {DType::f32, DType::f16, DType::bf16}) {
    Array a(t, {5});
    for (std::int64_t i = 0; i < 5; ++i) a.set(i, static_cast<float>(i) + 0.5F);
    float out[3] = {};
    a.read(1, 3, out);
    EXPECT_EQ(out[0], 1.5F);
    EXPECT_EQ(out[2], 3.5F);
    a.read(5, 0, out);
    EXPECT_EQ(out[0], 1.5F);
  }
}

TEST(Array, ConvertedKeepsShapeAndRoundsEachElement) {
  Array a(DType::f32, {1, 2});
  a.set(0, 0.1F);
  a.set(1, INFINITY);
  const Array h = a.converted(DType::f16);
  EXPECT_EQ(h.shape(), a.shape());
  EXPECT_EQ(h.dtype(), DType::f16);
  EXPECT_EQ(h.get(0), 0x1.998p-4F);
  EXPECT_EQ(h.get(1), INFINITY);
  EXPECT_EQ(a.converted(DType::f32), a);
}

TEST(Array, EqualityIsThatOfTheBits) {
  Array a(DType::f32, {1}), b(DType::f32, {1});
  a.set(0, NAN);
  b.set(0, NAN);
  EXPECT_EQ(a, b);
  a.set(0, 0.0F);
  b.set(0, -0.0F);
  EXPECT_NE(a, b);
  EXPECT_NE(Array(DType::f32, {2, 1}), Array(DType::f32, {1, 2}));
}

TEST(Array, MiddleAxesAreSwappedAndSwappedBack) {
  Array a(DType::f16, {2, 3, 4, 5});
  for (std::int64_t n = 0; n < a.size(); ++n) a.set(n, static_cast<float>(n));
  const Array swapped = middle_swapped(a);
  EXPECT_EQ(swapped.shape(), (std::vector<std::int64_t>{2, 4, 3, 5}));
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t x = 0; x < 3; ++x)
      for (std::int64_t y = 0; y < 4; ++y)
        for (std::int64_t d = 0; d < 5; ++d)
          EXPECT_EQ(swapped.get(((b * 4 + y) * 3 + x) * 5 + d), a.get(((b * 3 + x) * 4 + y) * 5 + d));
  EXPECT_EQ(middle_swapped(swapped), a);
}

}  // namespace
}  // namespace attn
