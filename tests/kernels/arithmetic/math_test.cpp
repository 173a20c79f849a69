// The arithmetic under every kernel: exp within its stated error, the same bits scalar and vector, products and sums in
// the stated order whatever the width.
#include "kernels/arithmetic/math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/arithmetic/tile_math.h"
#include "kernels/arithmetic/vector_ops.h"
#include "kernels/cpu/aligned.h"

namespace attn {
namespace {

// Every 97th float of the range in which e^x is a normal number.
template <class F>
void for_many_floats(F visit) {
  for (std::uint32_t bits = 0; bits < 0x42b17218U; bits += 97) {
    visit(std::bit_cast<float>(bits));
    visit(-std::bit_cast<float>(bits));
  }
}

TEST(Exp, StaysWithinItsStatedError) {
  double worst = 0;
  for_many_floats([&](float x) {
    if (x < -87.33F || x > 88.37F) return;
    const double exact = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::fabs(static_cast<double>(exp_f32(x)) - exact) / exact);
  });
  EXPECT_LE(worst, kExpError);
  EXPECT_GT(worst, kExpError / 20);
}

TEST(Exp, HandlesTheEndsOfTheRange) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(exp_f32(0.0F), 1.0F);
  EXPECT_EQ(exp_f32(-kInf), 0.0F);
  EXPECT_EQ(exp_f32(-200.0F), 0.0F);
  EXPECT_EQ(exp_f32(kInf), kInf);
  EXPECT_EQ(exp_f32(89.0F), kInf);
  EXPECT_TRUE(std::isnan(exp_f32(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Exp, VectorFormGivesTheScalarBits) {
  std::vector<float> xs;
  for_many_floats([&](float x) {
    if (xs.size() < 3000000) xs.push_back(x);
  });
  for (const float special : {-HUGE_VALF, HUGE_VALF, std::nanf(""), 88.72283F, 88.8F, -87.33654F, -87.34F, -103.0F})
    xs.push_back(special);
  xs.resize(static_cast<std::size_t>(cpu::padded(static_cast<std::int64_t>(xs.size()))), 0.0F);
  cpu::AlignedBytes in(xs.size() * sizeof(float));
  auto* p = reinterpret_cast<float*>(in.data());
  std::copy(xs.begin(), xs.end(), p);
  const float zero = 0;
  const auto n = static_cast<std::int64_t>(xs.size());
  cpu::exp_rows({p, n}, 1, n, &zero, {p, n}, nullptr);
  std::size_t different = 0;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const float scalar = exp_f32(xs[i] - 0.0F);
    different += std::bit_cast<std::uint32_t>(scalar) != std::bit_cast<std::uint32_t>(p[i]) && scalar == scalar;
  }
  EXPECT_EQ(different, 0U);
}

class Rows {
 public:
  Rows(std::int64_t rows, std::int64_t cols, std::uint32_t seed)
      : ld_(cpu::padded(cols)), bytes_(static_cast<std::size_t>(rows * ld_) * sizeof(float)) {
    auto* p = reinterpret_cast<float*>(bytes_.data());
    for (std::int64_t i = 0; i < rows * ld_; ++i) {
      seed = seed * 1664525U + 1013904223U;
      p[i] = i % ld_ < cols ? static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-31F : 0.0F;
    }
  }
  cpu::MutTile tile() { return {reinterpret_cast<float*>(bytes_.data()), ld_}; }
  cpu::ConstTile read() { return {reinterpret_cast<float*>(bytes_.data()), ld_}; }
  float at(std::int64_t r, std::int64_t c) { return tile().data[r * ld_ + c]; }

 private:
  std::int64_t ld_;
  cpu::AlignedBytes bytes_;
};

TEST(Products, AreOneChainOfMultiplyAddsAnElementWhateverTheShape) {
  // std::fma is the chain that vector_ops.h promises on targets that have it.
  for (const std::int64_t m : {1, 3, 4, 7}) {
    for (const std::int64_t n : {1, 16, 17, 40, 100}) {
      for (const std::int64_t k : {1, 2, 33}) {
        Rows a(m, k, 1);
        Rows b(k, n, 2);
        Rows c(m, n, 3);
        Rows before(m, n, 3);
        std::vector<float> factor(static_cast<std::size_t>(m), 0.75F);
        cpu::rescaled_product(a.read(), b.read(), c.tile(), m, n, k, factor.data());
        for (std::int64_t r = 0; r < m; ++r) {
          for (std::int64_t x = 0; x < n; ++x) {
            float chain = 0.75F * before.at(r, x);
            float plain = chain;
            for (std::int64_t y = 0; y < k; ++y) {
              chain = std::fma(a.at(r, y), b.at(y, x), chain);
              plain = plain + a.at(r, y) * b.at(y, x);
            }
            ASSERT_TRUE(c.at(r, x) == chain || c.at(r, x) == plain) << m << " " << n << " " << k;
          }
        }
      }
    }
  }
}

TEST(RowSums, AreSixteenInterleavedPartialsAndATree) {
  Rows p(3, 77, 9);
  float sums[3];
  cpu::row_sums(p.read(), 3, 77, sums);
  for (std::int64_t r = 0; r < 3; ++r) {
    float partial[16] = {};
    for (std::int64_t c = 0; c < 80; ++c) partial[c % 16] += p.at(r, c);
    for (int half = 8; half > 0; half /= 2) {
      for (int x = 0; x < half; ++x) partial[x] += partial[x + half];
    }
    EXPECT_EQ(sums[r], partial[0]);
  }
}

TEST(RowMax, IgnoresNaNAndTakesThePastIn) {
  Rows s(2, 20, 5);
  cpu::pad_scores(s.tile(), 2, 20);
  s.tile().data[7] = std::nanf("");
  s.tile().data[19] = 3.0F;
  const float in[2] = {-HUGE_VALF, 5.0F};
  float out[2];
  cpu::row_max(s.read(), 2, 20, in, out);
  EXPECT_EQ(out[0], 3.0F);
  EXPECT_EQ(out[1], 5.0F);
}

TEST(Rescale, IsOneWhereNothingWasSeenYet) {
  const float m_old[3] = {-HUGE_VALF, -HUGE_VALF, 2.0F};
  const float m_new[3] = {-HUGE_VALF, 1.0F, 2.0F};
  float alpha[3];
  cpu::rescale_factors(m_old, m_new, 3, alpha);
  EXPECT_EQ(alpha[0], 1.0F);
  EXPECT_EQ(alpha[1], 0.0F);
  EXPECT_EQ(alpha[2], 1.0F);
}

}  // namespace
}  // namespace attn
