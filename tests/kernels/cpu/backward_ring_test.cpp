// A backward as a ring in one process: gradients by the rule, bits that hang on nothing but the ranks.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/backward/forward.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/model/ring.h"
#include "kernels/orders/backward/options.h"
#include "kernels/recording/recording.h"
#include "tests/kernels/cpu/right.h"

namespace attn {
namespace {

const KernelRow& flash_bwd() {
  return **find_kernel("cpu_flash_bwd");
}

Options ring_of_ranks(std::int64_t ranks, bool zigzag) {
  Options o;
  o.br = 8, o.bc = 12;
  choose(o, kRanks, ranks);
  choose(o, kDeal, zigzag ? 1 : 0);
  return o;
}

Problem square(std::int64_t L) {
  Problem p;
  p.pass = Pass::backward;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = p.Lk = L;
  p.D = 20;
  p.Dv = 24;
  return p;
}

Inputs complete(const Problem& p) {
  Inputs in = test::normal_inputs(p, 11);
  const auto added = add_forward(p, in, 0, Stream{});
  EXPECT_TRUE(added) << added.error().message;
  return in;
}

Outputs answer(const Problem& p, const Options& o, const Inputs& in) {
  const auto out = run_on_cpu(flash_bwd(), p, o, in, 0, {});
  EXPECT_TRUE(out) << out.error().message;
  return out ? *out : Outputs();
}

void expect_right(const Problem& p, const Options& o) {
  const Inputs in = complete(p);
  const RowSample sample = choose_rows(p, true);
  const auto reference = reference_rows(p, in, sample.rows, 1, {});
  ASSERT_TRUE(reference);
  const Verdict v = judge(p, in, *reference, answer(p, o, in), sample);
  EXPECT_TRUE(v.pass) << describe(p) << ", " << ranks_of(o) << " ranks: " << v.reason;
}

TEST(BackwardRing, IsRightForEveryNumberOfRanksMaskAndDeal) {
  for (const bool zigzag : {false, true}) {
    for (const std::int64_t ranks : {2, 3, 5, 8}) {
      Problem p = square(93);
      expect_right(p, ring_of_ranks(ranks, zigzag));
      p.mask.causal = true;
      p.dtype = ranks == 3 ? DType::bf16 : DType::f32;
      expect_right(p, ring_of_ranks(ranks, zigzag));
      p.mask = {.window_left = 9, .key_lengths = {0, 90}};
      expect_right(p, ring_of_ranks(ranks, zigzag));
    }
    // One query and one key: most ranks have none.
    expect_right(square(1), ring_of_ranks(3, zigzag));
  }
}

TEST(BackwardRing, TakesWhatTheBackwardTakes) {
  Problem p = square(70);
  p.Lk = 117;
  p.dtype = DType::f16;
  p.bias_shape = {1, 4, 70, 117};
  p.softcap = 4;
  p.alibi.emplace();
  expect_right(p, ring_of_ranks(3, true));
}

TEST(BackwardRing, GivesTheSameBitsWithAnyNumberOfThreads) {
  Problem p = square(100);
  p.mask.causal = true;
  const Inputs in = complete(p);
  const Outputs first = answer(p, ring_of_ranks(3, true), in);
  for (const std::int32_t threads : {1, 2, 3}) {
    Options o = ring_of_ranks(3, true);
    o.threads = threads;
    EXPECT_TRUE(same_bits(answer(p, o, in), first)) << threads;
  }
}

TEST(BackwardRing, OfOneRankIsTheKernelAsItWas) {
  const Problem p = square(90);
  const Inputs in = complete(p);
  Options plain;
  plain.br = 8, plain.bc = 12;
  EXPECT_TRUE(same_bits(answer(p, ring_of_ranks(1, false), in), answer(p, plain, in)));
}

TEST(BackwardRing, SaysWhatItIsNot) {
  const Problem p = square(40);
  const Inputs in = complete(p);
  Options queries = ring_of_ranks(2, false);
  choose(queries, orders::backward::kOutside, orders::backward::kQueriesOutside);
  const auto outside = run_on_cpu(flash_bwd(), p, queries, in, 0, {});
  ASSERT_FALSE(outside);
  EXPECT_NE(outside.error().message.find("ranks=2 and outside=query_tile"), std::string::npos)
      << outside.error().message;
}

}  // namespace
}  // namespace attn
