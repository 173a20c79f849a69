// cpu_flash with its keys cut into parts: right by the rule for any number of them, the same bits at every run, and
// without the option what it was before there was one.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/cpu/aligned.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/run.h"
#include "kernels/cpu/thread_crew.h"
#include "kernels/model/inputs/inputs.h"
#include "kernels/model/inputs/shape_list.h"
#include "kernels/model/problem/tensor_bytes.h"
#include "kernels/recording/recording.h"
#include "tests/environment/asked.h"
#include "tests/kernels/cpu/right.h"

namespace attn {
namespace {

using test::flash;

Options splits(std::int64_t n, std::int32_t bc = 16) {
  Options o;
  o.bc = bc;
  choose(o, kSplits, n);
  return o;
}

Inputs inputs(const Problem& p) {
  return test::normal_inputs(p, 5);
}

Problem decoding(std::int64_t lk) {
  Problem p;
  p.B = 2;
  p.Hq = 4;
  p.Hkv = 2;
  p.Lq = 3;
  p.Lk = lk;
  p.D = 24;
  p.Dv = 20;
  return p;
}

void expect_right(const Problem& p, const Options& o) {
  test::expect_right(p, o, inputs(p), "splits " + std::to_string(chosen(o, kSplits).value_or(0)));
}

TEST(Splits, OfEveryNumberAreRight) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    Problem p = decoding(700);
    p.dtype = dtype;
    p.mask.causal = true;
    p.mask.key_lengths = {700, 33};
    for (std::int64_t n = 1; n <= 64; ++n) {
      if (dtype == DType::f32 || n % 9 == 2) expect_right(p, splits(n));
    }
  }
}

// Fewer key tiles than parts: some have none.
TEST(Splits, WithoutKeysAddNothing) {
  for (const std::int64_t lk : {1, 15, 16, 17, 100}) {
    Problem p = decoding(lk);
    expect_right(p, splits(64));
    p.mask.key_lengths = {0, lk};
    expect_right(p, splits(7));
    p.mask.window_left = 3;  // parts far before the window see nothing
    expect_right(p, splits(5));
  }
}

TEST(Splits, TakeWhatTheForwardTakes) {
  for (const CheckCase& c : paired_cases(DType::f32)) {
    if (c.problem.Lq * c.problem.Lk > (test::asked("ATTNSCOPE_LONG_TESTS") ? 1 << 20 : 1 << 14)) continue;
    expect_right(c.problem, splits(3));
  }
  Problem p = decoding(90);
  p.bias_shape = {1, 4, 3, 90};
  p.softcap = 4;
  p.alibi.emplace();
  Options o = splits(4);
  o.key_order = KeyOrder::right_to_left;
  expect_right(p, o);
  o.subtract_max = false;
  expect_right(p, o);
}

TEST(Splits, GiveTheSameBitsAtEveryRunWithAnyNumberOfThreads) {
  const Problem p = decoding(500);
  const Inputs in = inputs(p);
  for (const std::int64_t n : {2, 7, 64}) {
    const Outputs first = *run_on_cpu(flash(), p, splits(n), in, 0, {});
    for (std::int32_t repeat = 0; repeat < 20; ++repeat) {
      Options o = splits(n);
      o.threads = 1 + repeat % 4;
      EXPECT_TRUE(same_bits(*run_on_cpu(flash(), p, o, in, 0, {}), first)) << n;
    }
  }
}

TEST(Splits, DoNotDependOnWhatMemoryHeldBefore) {
  const Problem p = decoding(40);
  const Inputs in = inputs(p);
  const Plan plan = *flash().plan(flash(), p, splits(6), cpu_device());
  cpu::AlignedBytes workspace(plan.workspace_bytes);
  std::memset(workspace.data(), 0xff, plan.workspace_bytes);
  Outputs out = empty_outputs(p);
  cpu::ThreadCrew crew(plan.options.threads);
  ASSERT_TRUE(enqueue(plan, buffers_of(in, out, workspace.data()), Stream{{}, nullptr, &crew}));
  EXPECT_TRUE(same_bits(out, *run_on_cpu(flash(), p, splits(6), in, 0, {})));
}

TEST(Splits, OfOnePartAreTheKernelAsItWas) {
  const Problem p = decoding(120);
  const Inputs in = inputs(p);
  Options plain;
  plain.bc = 16;
  EXPECT_TRUE(same_bits(*run_on_cpu(flash(), p, splits(1), in, 0, {}), *run_on_cpu(flash(), p, plain, in, 0, {})));
  // What a file keeps of a run is the same, too.
  const auto resolved = resolve(flash(), splits(1), cpu_device());
  ASSERT_TRUE(resolved);
  EXPECT_TRUE(resolved->further.empty());
  EXPECT_EQ(*resolve(flash(), plain, cpu_device()), *resolved);
}

TEST(Splits, OutOfRangeAreRefusedInWordsAndSoIsARecordingOfTooMany) {
  const Problem p = decoding(40);
  EXPECT_EQ(resolve(flash(), splits(65), cpu_device()).error().message,
            "cpu_flash supports splits from 1 to 64, not 65");
  EXPECT_FALSE(resolve(flash(), splits(0), cpu_device()));
  EXPECT_FALSE(flash().record(flash(), p, splits(4), inputs(p), {})) << "of three key tiles";
  EXPECT_TRUE(flash().record(flash(), p, splits(3), inputs(p), {}));
  EXPECT_TRUE(flash().record(flash(), p, splits(1), inputs(p), {}));
}

// O is written by the merge alone, so a plan says two launches and the room of the parts.
TEST(Splits, ArePlannedWithTheirRoom) {
  const Problem p = decoding(400);
  const Plan one = *flash().plan(flash(), p, splits(1), cpu_device());
  const Plan four = *flash().plan(flash(), p, splits(4), cpu_device());
  EXPECT_EQ(one.launches.size(), 1U);
  ASSERT_EQ(four.launches.size(), 2U);
  EXPECT_EQ(four.launches[0].grid[0], 4 * four.launches[1].grid[0]);
  EXPECT_GE(four.workspace_bytes, one.workspace_bytes + 4U * 4 * (2 * 4 * 3) * (20 + 2));
}

}  // namespace
}  // namespace attn
