// The reference and the baseline of the judge against numbers of NumPy.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/judge/verdict.h"
#include "tests/kernels/judge/judge_cases.h"
#include "tests/kernels/judge/verdict_literals.h"

namespace attn {
namespace {

using namespace judge_test;

void expect_numbers(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t n = 0; n < got.size(); ++n) {
    if (std::isinf(wanted[n])) {
      EXPECT_EQ(got[n], wanted[n]) << n;
    } else {
      EXPECT_NEAR(got[n], wanted[n], 1e-14) << n;
    }
  }
}

TEST(Reference, AgreesWithNumpyWithoutMask) {
  Case c = numpy_case(DType::f32);
  c.compute();
  expect_numbers(c.ref.out, literals::plain_out);
  expect_numbers(c.ref.lse, literals::plain_lse);
  EXPECT_DOUBLE_EQ(c.ref.max_abs_v, 1.5);
}

TEST(Reference, AgreesWithNumpyUnderWindowCausalKeyLengthsAndScale) {
  Case c = numpy_case(DType::f16);
  c.p.scale = 0.5;
  c.p.mask.causal = true;
  c.p.mask.window_left = 1;
  c.p.mask.key_lengths = {5, 3};
  c.compute();
  expect_numbers(c.ref.out, literals::masked_out);
  expect_numbers(c.ref.lse, literals::masked_lse);
}

TEST(Reference, AgreesWithNumpyUnderBiasWithMinusInfinity) {
  Case c = numpy_case(DType::bf16);
  c.p.bias_shape = {1, 4, 3, 5};
  c.in.bias = sequence(DType::f32, {1, 4, 3, 5}, 11, 17);
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t key = 0; key < 5; ++key) c.in.bias->set(h * 15 + key, -kInf);
    c.in.bias->set(h * 15 + 11, -kInf);
  }
  c.compute();
  expect_numbers(c.ref.out, literals::biased_out);
  expect_numbers(c.ref.lse, literals::biased_lse);
}

TEST(Reference, GivesTheBlackboardNumbers) {
  Case c;
  c.p.Lq = c.p.Lk = 4;
  c.p.D = c.p.Dv = 2;
  c.in.q = c.in.k = c.in.v = Array(DType::f32, {1, 1, 4, 2});
  for (std::int64_t i = 0; i < 8; ++i) {
    c.in.q.set(i, static_cast<float>(i + 1));
    c.in.k.set(i, static_cast<float>(i) + 0.5F);
    c.in.v.set(i, static_cast<float>(i + 1) / 10.0F);
  }
  c.compute();
  const std::vector<double> out{0.697084, 0.797084, 0.699990, 0.799990, 0.7, 0.8, 0.7, 0.8};
  const std::vector<double> lse{15.217270, 35.001836, 54.800776, 74.599765};
  for (std::size_t n = 0; n < 8; ++n) EXPECT_NEAR(c.ref.out[n], out[n], 5e-7) << n;
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(c.ref.lse[n], lse[n], 5e-7) << n;
  EXPECT_NEAR(c.ref.max_abs_score, 74.599765, 5e-7);
}

// More keys and rows than one block holds, extents that no block divides, against the definition element by element.
TEST(Reference, EqualsTheDefinitionBeyondOneBlock) {
  Case c = random_case(131, 301, 7, 5);
  c.p.mask.window_left = 140;
  c.p.mask.window_right = 3;
  c.compute(2);
  for (std::int64_t r = 0; r < 131; ++r) {
    double total = 0, sums[5] = {};
    for (std::int64_t key = 0; key < 301; ++key) {
      if (key < r + 170 - 140 || key > r + 170 + 3) continue;
      double s = 0;
      for (std::int64_t d = 0; d < 7; ++d) {
        s += static_cast<double>(c.in.q.get(r * 7 + d)) * static_cast<double>(c.in.k.get(key * 7 + d));
      }
      const double weight = std::exp(s / std::sqrt(7.0));
      total += weight;
      for (std::int64_t d = 0; d < 5; ++d) sums[d] += weight * static_cast<double>(c.in.v.get(key * 5 + d));
    }
    const auto row = static_cast<std::size_t>(r);
    EXPECT_NEAR(c.ref.lse[row], std::log(total), 1e-12) << r;
    for (std::size_t d = 0; d < 5; ++d) EXPECT_NEAR(c.ref.out[row * 5 + d], sums[d] / total, 1e-12) << r;
  }
}

TEST(Reference, DoesNotDependOnTheNumberOfThreads) {
  Case one = random_case(300, 150, 8, 8);
  Case three = one;
  one.compute(1);
  three.compute(3);
  EXPECT_EQ(one.ref.out, three.ref.out);
  EXPECT_EQ(one.ref.baseline, three.ref.baseline);
  EXPECT_EQ(one.ref.max_abs_score, three.ref.max_abs_score);
}

TEST(Reference, StopsWhenAsked) {
  const Case c = random_case(64, 64, 8, 8);
  std::stop_source source;
  source.request_stop();
  const auto ref = reference_rows(c.p, c.in, choose_rows(c.p, true).rows, 1, source.get_token());
  ASSERT_FALSE(ref);
  EXPECT_EQ(ref.error().kind, ErrorKind::cancelled);
}

TEST(Baseline, RoundsPAndOToTheDtypeAsNumpyDoes) {
  Case c = numpy_case(DType::f16);
  c.compute();
  // One last place of f16 at most: NumPy's fp32 exp may round the other way before P is rounded.
  ASSERT_EQ(c.ref.baseline.size(), literals::f16_baseline.size());
  std::size_t equal = 0;
  for (std::size_t n = 0; n < c.ref.baseline.size(); ++n) {
    EXPECT_NEAR(c.ref.baseline[n], literals::f16_baseline[n], 0x1p-10 * std::fabs(literals::f16_baseline[n])) << n;
    if (c.ref.baseline[n] == literals::f16_baseline[n]) ++equal;
  }
  EXPECT_GE(equal, 44U);
}

}  // namespace
}  // namespace attn
