// FLOPs and bytes of each pass against numbers worked out by hand.
#include "kernels/model/problem/costs.h"

#include <cstdint>

#include <gtest/gtest.h>

#include "kernels/model/fits.h"
#include "kernels/model/traffic.h"

namespace attn {
namespace {

// B 2, Hq 4 over Hkv 2, 3 queries, 5 keys, D 8, Dv 6, f16.
Problem grouped() {
  Problem p;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 3;
  p.Lk = 5;
  p.D = 8;
  p.Dv = 6;
  p.dtype = DType::f16;
  return p;
}

constexpr std::uint64_t kQ = 2 * 2 * 4 * 3 * 8, kK = 2 * 2 * 2 * 5 * 8, kV = 2 * 2 * 2 * 5 * 6, kO = 2 * 2 * 4 * 3 * 6,
                        kLse = 4 * 2 * 4 * 3;

TEST(PassCosts, AForwardHasTwoProductsAndABackwardFive) {
  Problem p = grouped();
  const double pairs = 2 * 4 * 3 * 5;
  EXPECT_EQ(flops_of(p), pairs * (2 * 8 + 2 * 6));
  p.pass = Pass::backward;
  // S and dQ and dK over D, dP and dV over Dv.
  EXPECT_EQ(flops_of(p), pairs * (3 * 2 * 8 + 2 * 2 * 6));
}

TEST(PassCosts, ABackwardIsTwoAndAHalfForwardsWhereHeadsAreAlike) {
  Problem p = grouped();
  p.Dv = 8;
  p.Lq = 5;
  p.mask.causal = true;  // 15 pairs a head, 8 heads
  const double forward = flops_of(p);
  EXPECT_EQ(forward, 15 * 8 * 2 * 16);
  p.pass = Pass::backward;
  EXPECT_EQ(flops_of(p), 2.5 * forward);
}

TEST(PassCosts, AForwardReadsItsInputsAndWritesOAndLse) {
  const TensorCosts costs = compulsory_costs(grouped());
  EXPECT_EQ(costs.read[Tensor::q], kQ);
  EXPECT_EQ(costs.read[Tensor::k], kK);
  EXPECT_EQ(costs.read[Tensor::v], kV);
  EXPECT_EQ(costs.written[Tensor::o], kO);
  EXPECT_EQ(costs.written[Tensor::lse], kLse);
  EXPECT_EQ(costs.total(), kQ + kK + kV + kO + kLse);
}

TEST(PassCosts, ABackwardReadsTheAnswerAndItsGradientAndWritesThree) {
  Problem p = grouped();
  p.pass = Pass::backward;
  const TensorCosts costs = compulsory_costs(p);
  EXPECT_EQ(costs.read[Tensor::o], kO);
  EXPECT_EQ(costs.read[Tensor::d_o], kO);
  EXPECT_EQ(costs.read[Tensor::lse], kLse);
  EXPECT_EQ(costs.written[Tensor::d_q], kQ);
  EXPECT_EQ(costs.written[Tensor::d_k], kK);
  EXPECT_EQ(costs.written[Tensor::d_v], kV);
  EXPECT_EQ(costs.written[Tensor::o], 0U);
  EXPECT_EQ(costs.read[Tensor::delta] + costs.written[Tensor::delta], 0U);  // on chip, of O and dO
  const std::uint64_t all = 2 * (kQ + kK + kV + kO) + kLse;
  EXPECT_EQ(costs.total(), all);
  EXPECT_EQ(compulsory(Order::flash, p).total(), all);
  EXPECT_EQ(compulsory(Order::flash, p).of(TrafficPart::k), 2 * kK);
  EXPECT_EQ(tensor_bytes(p), all);
}

TEST(PassCosts, PagesCostTheirKeysAndTheTableAndNotTheirTails) {
  Problem p = grouped();
  p.storage = {4, 10};
  TensorCosts costs = compulsory_costs(p);
  EXPECT_EQ(costs.read[Tensor::k], kK);
  EXPECT_EQ(costs.read[Tensor::v], kV);
  EXPECT_EQ(costs.read[Tensor::page_table], 4U * 2 * 2);
  EXPECT_EQ(compulsory(Order::flash, p).total(), kQ + kK + kV + kO + kLse + 16);
  // The pool itself is larger: 10 pages of 4 keys.
  EXPECT_EQ(tensor_bytes(p), kQ + 2 * 2 * 10 * 4 * (8 + 6) + kO + kLse + 16);
  p.mask.key_lengths = {1, 5};  // one page and two
  costs = compulsory_costs(p);
  EXPECT_EQ(costs.read[Tensor::k], 2U * 2 * 6 * 8);
  EXPECT_EQ(costs.read[Tensor::page_table], 4U * 3);
  // Two batches that share the pool's one page cannot read more than it holds.
  p.storage.pages = 1;
  EXPECT_EQ(compulsory_costs(p).read[Tensor::k], 2U * 2 * 4 * 8);
}

}  // namespace
}  // namespace attn
