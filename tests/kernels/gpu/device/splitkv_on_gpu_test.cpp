// On a machine with an NVIDIA GPU: flash_splitkv is right by the rule, for any number of parts, whatever keys
// batches have and however their pages lie, and gives the same bits at every run. Skipped where there is none.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/launch/device_run.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "tests/environment/asked.h"
#include "tests/kernels/gpu/device/gpu_fixture.h"

namespace attn::gpu {
namespace {

class SplitkvOnAGpu : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (queue_ && !runs_here(row())) GTEST_SKIP() << "not on " << properties_.arch();
  }

  static const KernelRow& row() { return **find_kernel("flash_splitkv"); }

  static Problem decoding(std::int64_t D, DType dtype = DType::f16) {
    Problem p;
    p.B = 3;
    p.Hq = 8;
    p.Hkv = 2;
    p.Lq = 3;
    p.Lk = 1100;
    p.D = p.Dv = D;
    p.dtype = dtype;
    return p;
  }
  static Inputs inputs(const Problem& p) {
    InputSpec spec;
    spec.generator = Generator::normal;
    spec.seed = 17;
    return *make_inputs(p, spec);
  }

  struct Judged {
    RowSample sample;
    ReferenceRows reference;
  };
  static Judged judged(const Problem& p, const Inputs& in) {
    RowSample sample = choose_rows(p, false);
    auto reference = reference_rows(p, in, sample.rows, 0, {});
    EXPECT_TRUE(reference);
    return {std::move(sample), *std::move(reference)};
  }

  // Right by the rule, and the same bits `repeats` times.
  void expect_right(const Problem& p, const Inputs& in, const Judged& by, const Options& o = {}, int repeats = 2) {
    const Device d = device_of(properties_);
    const auto taken = row().supports(row(), p, o, d);
    ASSERT_TRUE(taken) << taken.error().message;
    const Plan plan = *row().plan(row(), p, o, d);
    SCOPED_TRACE(describe(p) + ": " + row().reason(p, plan.options, d));
    auto run = DeviceRun::place(*queue_, plan, tensor_bytes_of(in));
    ASSERT_TRUE(run) << run.error().message;
    Outputs first = empty_outputs(p), again = empty_outputs(p);
    const auto ran = run->once();
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_TRUE(run->fetch(first));
    const Verdict v = judge(p, in, by.reference, first, by.sample);
    EXPECT_TRUE(v.pass) << v.reason;
    for (int n = 1; n < repeats; ++n) {
      ASSERT_TRUE(run->once());
      ASSERT_TRUE(run->fetch(again));
      ASSERT_TRUE(same_bits(first, again)) << "run " << n;
    }
  }
  void expect_right(const Problem& p, const Options& o = {}, int repeats = 2) {
    const Inputs in = inputs(p);
    expect_right(p, in, judged(p, in), o, repeats);
  }
};

Options in_parts(std::int64_t n) {
  Options o;
  choose(o, kSplits, n);
  return o;
}

TEST_F(SplitkvOnAGpu, IsRightOverThePairedList) {
  int taken = 0;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    for (const CheckCase& c : paired_cases(dtype)) {
      const Problem& p = c.problem;
      const bool is_long = p.Lq > 64 || p.Lk > 1200 || dtype != DType::f16;
      if (p.Lq > 700 || (is_long && !test::asked("ATTNSCOPE_LONG_TESTS"))) continue;
      const auto in = inputs_of(c);
      ASSERT_TRUE(in);
      expect_right(c.problem, *in, judged(c.problem, *in));
      ++taken;
    }
  }
  EXPECT_GE(taken, 10);
}

TEST_F(SplitkvOnAGpu, IsRightForEveryHeadDimension) {
  for (const std::int64_t D : {1, 8, 32, 36, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 256}) {
    for (const DType dtype : {D % 3 == 0 ? DType::bf16 : DType::f16, DType::f32}) {
      Problem p = decoding(D, dtype);
      p.mask.causal = true;
      p.mask.key_lengths = {1100, 0, 371};
      expect_right(p);
    }
  }
  Problem p = decoding(192);
  p.Dv = 128;
  expect_right(p);
  p.D = 40;
  p.Dv = 256;
  expect_right(p);
}

TEST_F(SplitkvOnAGpu, IsRightForEveryNumberOfSplits) {
  Problem p = decoding(64);
  p.B = 2;
  p.Lk = 4500;
  p.mask.key_lengths = {4500, 700};
  const Inputs in = inputs(p);
  const Judged by = judged(p, in);
  for (std::int64_t n = 1; n <= 132; ++n) expect_right(p, in, by, in_parts(n), 3);
  for (const std::int64_t n : {264, 1024}) expect_right(p, in, by, in_parts(n), 3);
}

// Some warps then have a tile more than others, and parts beyond the keys none.
TEST_F(SplitkvOnAGpu, DealsTheOnlyBatchOutToItsParts) {
  for (const auto& [D, dtype] : {std::pair{128, DType::f16}, {59, DType::bf16}, {64, DType::f32}}) {
    Problem p = decoding(D, dtype);
    p.B = 1;
    p.Lk = 3000;
    p.mask.causal = true;
    for (const std::int64_t length : {0, 5, 200, 3000}) {
      p.mask.key_lengths = {length};
      const Inputs in = inputs(p);
      const Judged by = judged(p, in);
      for (const std::int32_t threads : {32, 128})
        for (const std::int64_t n : {1, 2, 3, 11, 47, 132, 200}) {
          Options o = in_parts(n);
          o.threads = threads;
          o.stages = 2;
          expect_right(p, in, by, o, 3);
        }
    }
  }
}

TEST_F(SplitkvOnAGpu, IsRightWhateverKeysBatchesHave) {
  for (const std::vector<std::int64_t>& lengths :
       {std::vector<std::int64_t>{0, 0, 0}, {1, 0, 1100}, {15, 16, 17}, {1100, 1099, 1}, {31, 33, 1024}}) {
    for (const std::int64_t window : {-1, 40}) {
      Problem p = decoding(128);
      p.mask.key_lengths = lengths;
      p.mask.window_left = window;
      for (const std::int64_t n : {1, 7, 33, 200}) expect_right(p, in_parts(n));
    }
  }
  Problem many = decoding(64);
  many.B = 300;
  many.Lk = 200;
  for (std::int64_t b = 0; b < many.B; ++b) many.mask.key_lengths.push_back(b * 37 % 201);
  for (const std::int64_t n : {1, 20, 132}) expect_right(many, in_parts(n));
}

TEST_F(SplitkvOnAGpu, IsRightWithWhatChangesScores) {
  for (const auto& [D, dtype] : {std::pair{59, DType::f16}, {128, DType::bf16}, {40, DType::f32}}) {
    Problem p = decoding(D, dtype);
    p.bias_shape = {1, 8, 3, 1100};
    expect_right(p);
    p.softcap = 20;
    p.alibi.emplace();
    expect_right(p);
    p.bias_shape.clear();
    p.mask.causal = true;
    expect_right(p);
  }
  for (const DType dtype : {DType::f16, DType::f32}) {
    Problem p = decoding(64, dtype);
    p.scale = -0.2;
    expect_right(p);
    p.scale = 0;
    expect_right(p);
  }
}

TEST_F(SplitkvOnAGpu, ReadsShuffledPagesAndNothingBeyondKeyLengths) {
  for (const std::int64_t page : {1, 5, 16, 64, 256}) {
    Problem p = decoding(page == 5 ? 40 : 128, page == 64 ? DType::bf16 : page == 1 ? DType::f32 : DType::f16);
    p.storage.page = page;
    p.storage.pages = p.B * pages_of_batch(p) + 3;
    p.mask.key_lengths = {1100, 0, 517};
    Inputs in = inputs(p);
    // What is in no key's place is NaN.
    std::vector<std::uint8_t> used(static_cast<std::size_t>(p.storage.pages * p.Hkv * page));
    for (std::int64_t b = 0; b < p.B; ++b)
      for (std::int64_t kv = 0; kv < p.Hkv; ++kv)
        for (std::int64_t c = 0; c < keys_of_batch(p, b); ++c)
          used[static_cast<std::size_t>(pool_row(p, in.page_table, b, kv, c))] = 1;
    for (std::int64_t r = 0; r < std::ssize(used); ++r) {
      if (used[static_cast<std::size_t>(r)] != 0) continue;
      for (std::int64_t d = 0; d < p.D; ++d) in.k.set(r * p.D + d, std::nanf(""));
      for (std::int64_t d = 0; d < p.Dv; ++d) in.v.set(r * p.Dv + d, std::nanf(""));
    }
    const Judged by = judged(p, in);
    for (const std::int64_t n : {1, 9, 60}) expect_right(p, in, by, in_parts(n));
    p.layout = AxisOrder::blhd;
    expect_right(p, in, by);
  }
}

// V beyond a batch's key length may hold anything without pages, too: 0 times NaN is NaN.
TEST_F(SplitkvOnAGpu, ReadsNoKeyBeyondABatchsLength) {
  Problem p = decoding(128);
  p.mask.key_lengths = {1000, 3, 530};
  Inputs in = inputs(p);
  for (std::int64_t b = 0; b < p.B; ++b)
    for (std::int64_t kv = 0; kv < p.Hkv; ++kv)
      for (std::int64_t c = keys_of_batch(p, b); c < p.Lk; ++c)
        for (std::int64_t d = 0; d < p.D; ++d) {
          in.k.set(((b * p.Hkv + kv) * p.Lk + c) * p.D + d, std::nanf(""));
          in.v.set(((b * p.Hkv + kv) * p.Lk + c) * p.D + d, std::nanf(""));
        }
  Inputs clean = in;
  for (Array* a : {&clean.k, &clean.v})
    for (std::int64_t n = 0; n < a->size(); ++n)
      if (std::isnan(a->get(n))) a->set(n, 0);
  expect_right(p, in, judged(p, clean));
}

TEST_F(SplitkvOnAGpu, RowsOfManyQueriesAndHeadsAreTiles) {
  for (const auto& [Lq, Hq, Hkv] : {std::tuple{64, 16, 2}, {64, 4, 4}, {17, 6, 2}, {1, 71, 1}, {2, 96, 1}}) {
    Problem p = decoding(64);
    p.Lq = Lq;
    p.Hq = Hq;
    p.Hkv = Hkv;
    p.mask.causal = true;
    for (const AxisOrder layout : {AxisOrder::bhld, AxisOrder::blhd}) {
      p.layout = layout;
      expect_right(p);
      expect_right(p, in_parts(5));
    }
  }
}

// The parts of the only batch, merged by the blocks of a cluster: fewer keys than parts and many, ragged and paged; D
// that is no multiple of what a thread has.
TEST_F(SplitkvOnAGpu, ClustersMergeTheOnlyBatch) {
  const Device d = device_of(properties_);
  int clustered = 0;
  for (const auto& [D, Dv, dtype] : {std::tuple{128, 128, DType::f16}, {64, 64, DType::bf16}, {59, 33, DType::f16}}) {
    for (const std::int64_t Lk : {1, 17, 130, 4096, 5000}) {
      Problem p = decoding(D, dtype);
      p.B = 1;
      p.Hq = 32;
      p.Hkv = 8;
      p.Lk = Lk;
      p.Dv = Dv;
      for (const std::int64_t Lq : {1, 3}) {
        p.Lq = Lq;
        p.mask.causal = Lq == 3;
        p.storage = {};
        p.mask.key_lengths.clear();
        clustered += row().plan(row(), p, {}, d)->launches.front().name == "flash_splitkv_cluster" ? 1 : 0;
        expect_right(p, {}, Lk == 4096 ? 50 : 3);
        for (const std::int64_t length : {std::int64_t{0}, Lk / 3}) {
          p.mask.key_lengths = {length};
          expect_right(p);
        }
        p.storage.page = 16;
        p.storage.pages = pages_of_batch(p) + 3;
        expect_right(p);
      }
    }
  }
  Problem tiles = decoding(128);  // two of 16 rows
  tiles.B = 1;
  tiles.Hq = 16;
  tiles.Hkv = 4;
  tiles.Lq = 7;
  tiles.mask.causal = true;
  Options o = in_parts(8);
  o.br = 16;
  expect_right(tiles, o, 3);
  tiles.Lq = 1;
  expect_right(tiles, {}, 3);
  if (properties_.arch() == "sm_90a" && properties_.sms == 132) {
    EXPECT_GE(clustered, 20);
  }
}

// Parts that go on from batch to batch, with tiles for some warps, for all and for none, and rings of every depth; Q in
// registers and not. No launch merges where none is cut.
TEST_F(SplitkvOnAGpu, FetchesOverTheSeamsBetweenBatches) {
  for (const auto& [D, dtype] : {std::pair{128, DType::f16}, {256, DType::bf16}, {64, DType::f32}}) {
    Problem p = decoding(D, dtype);
    p.B = 24;
    p.Lk = 320;
    for (const bool ragged : {false, true}) {
      if (ragged)
        for (std::int64_t b = 0; b < p.B; ++b) p.mask.key_lengths.push_back(b % 5 == 0 ? 0 : b * b * 7 % 321);
      const Inputs in = inputs(p);
      const Judged by = judged(p, in);
      for (const std::int32_t stages : {2, 3, 5}) {
        for (const std::int64_t n : {1, 3, 8, 24, 31}) {
          Options o = in_parts(n);
          o.stages = stages;
          o.threads = stages == 2 ? 128 : 64;
          expect_right(p, in, by, o, 3);
        }
      }
    }
  }
}

TEST_F(SplitkvOnAGpu, GivesTheSameBits250Times) {
  Problem decode = decoding(64);
  decode.B = decode.Hq = decode.Hkv = 1;
  decode.Lq = 16;
  decode.Lk = 20000;
  expect_right(decode, {}, 250);
  Problem ragged = decoding(128, DType::bf16);
  ragged.B = 5;
  ragged.mask.key_lengths = {0, 1, 15, 17, 1100};
  expect_right(ragged, in_parts(66), 250);
  Problem clusters = decoding(128);
  clusters.B = clusters.Lq = 1;
  clusters.Hq = 32;
  clusters.Hkv = 8;
  clusters.Lk = 4100;
  expect_right(clusters, {}, 250);
  Problem one = decoding(8);
  one.B = one.Hq = one.Hkv = one.Lq = one.Lk = 1;
  expect_right(one, {}, 250);
}

}  // namespace
}  // namespace attn::gpu
