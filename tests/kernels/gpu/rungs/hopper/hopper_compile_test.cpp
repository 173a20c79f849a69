// ptxas is believed: no tile of flash_hopper that ships, that a step has or that tuning may choose spills, and of none
// it says that products are serialised or registers not shared out ("Potential Performance Loss").
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/hopper/hopper_tile.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "tests/kernels/gpu/rungs/compile_fixture.h"

namespace attn::gpu {
namespace {

Problem problem(std::int64_t D, DType dtype, bool causal, std::int64_t L = 1024) {
  Problem p;
  p.B = 2;
  p.Hq = p.Hkv = 4;
  p.Lq = p.Lk = L;
  p.D = p.Dv = D;
  p.dtype = dtype;
  p.mask.causal = causal;
  return p;
}

class HopperCompile : public test::CompileTest {
 protected:
  void expect_clean(const Problem& p, const Options& o = {}) {
    const KernelRow& row = **find_kernel("flash_hopper");
    const Device d = *device_for("sm_90a");
    const auto plan = row.plan(row, p, o, d);
    ASSERT_TRUE(plan) << plan.error().message;
    SCOPED_TRACE(describe(p) + ": " + row.reason(p, plan->options, d));
    const auto report = inspect(*service_, *plan, d, {});
    ASSERT_TRUE(report) << report.error().message;
    for (const EntryReport& e : report->entries) {
      EXPECT_EQ(e.figures.spill_store_bytes + e.figures.spill_load_bytes, 0);
      const bool copies = e.figures.name != row.id;
      EXPECT_TRUE(copies || e.occupancy.blocks == 1) << e.occupancy.limiter;
    }
    EXPECT_TRUE(report->compiled.losses.empty()) << report->compiled.losses.front();
    EXPECT_TRUE(report->compiled.warnings.empty()) << report->compiled.warnings.front();
  }
};

// A compile takes seconds, so the long lists go through pairs of what may differ, not through all combinations.
TEST_F(HopperCompile, WhatShipsLosesNothing) {
  for (const std::int64_t D : {64, 128, 256}) expect_clean(problem(D, DType::f16, true));
  expect_clean(problem(192, DType::bf16, false));
  if (!asked_for_all()) return;
  for (const std::int64_t D : {8, 40, 80, 96, 160, 192, 224}) {
    expect_clean(problem(D, D % 3 == 0 ? DType::bf16 : DType::f16, D % 80 != 0));
  }
  for (const std::int64_t D : {64, 128, 256}) {
    // With a half step and without; one buffer of Q or two.
    expect_clean(problem(D, DType::bf16, true, 16384));
    expect_clean(problem(D, DType::bf16, false, D == 128 ? 16384 : 1024));
  }
}

TEST_F(HopperCompile, WhatMasksLosesNothing) {
  const std::vector<std::int64_t> dims =
      asked_for_all() ? std::vector<std::int64_t>{64, 128, 192, 256} : std::vector<std::int64_t>{128};
  for (const std::int64_t D : dims) {
    Problem lengths = problem(D, DType::f16, false), window = lengths;
    lengths.mask.key_lengths = {100, 1024};
    window.mask.window_left = 100;
    window.mask.window_right = 0;
    Problem both = window;
    both.mask.key_lengths = lengths.mask.key_lengths;
    for (const Problem& p : {lengths, window, both}) expect_clean(p);
  }
}

TEST_F(HopperCompile, AnotherDvAndPackedHeadsLoseNothing) {
  if (!asked_for_all()) GTEST_SKIP() << "one of the long lists: tests/run.sh --full";
  for (const std::int64_t D : {64, 128, 256}) {
    Problem wide = problem(D, DType::f16, true), narrow = wide, packed = wide;
    wide.Dv = 256;
    narrow.Dv = 40;
    packed.Hkv = 1;
    packed.Lq = 3;
    for (const Problem& p : {wide, narrow, packed}) expect_clean(p);
  }
}

// Through copies; products come in eights of columns.
TEST_F(HopperCompile, AnyHeadDimensionLosesNothing) {
  Problem p = problem(111, DType::bf16, true);
  p.Dv = 59;
  expect_clean(p);
  if (!asked_for_all()) return;
  for (const std::int64_t D : {1, 20, 59, 65, 111, 150, 195, 250}) expect_clean(problem(D, DType::f16, D % 2 == 0));
}

TEST_F(HopperCompile, WhatChangesScoresLosesNothing) {
  Problem p = problem(128, DType::f16, true);
  p.bias_shape = {1, 1, 1024, 1024};
  expect_clean(p);
  p.mask = {};
  expect_clean(p);
  if (!asked_for_all()) return;
  for (const std::int64_t D : {64, 128, 256}) {
    Problem biased = problem(D, D == 128 ? DType::bf16 : DType::f16, true), shaped = biased;
    biased.bias_shape = {1, 1, 1024, 1024};
    shaped.softcap = 30;
    shaped.alibi.emplace();
    Problem all = shaped;
    all.bias_shape = biased.bias_shape;
    expect_clean(all);
    biased.mask.window_left = 100;
    expect_clean(biased);
    shaped.mask = {};  // without half steps
    expect_clean(shaped);
    shaped.mask.window_left = 100;
    expect_clean(shaped);
  }
}

TEST_F(HopperCompile, OInFp32LosesNothing) {
  for (const std::int64_t D : {64, 128, 256}) {
    if (D == 128 && !asked_for_all()) continue;
    Problem p = problem(D, DType::f16, true);
    p.output = OutputType::f32;
    expect_clean(p);
    if (!asked_for_all()) continue;
    p.mask = {};
    p.Dv = D - 1;
    expect_clean(p);
  }
}

TEST_F(HopperCompile, NoStepLosesAnything) {
  for (const std::int64_t D : {64, 128, 256}) {
    if (D != 128 && !asked_for_all()) continue;
    for (std::int32_t step = 1; step < kLastStep; ++step) {
      Options o;
      choose(o, kHopperStep, step);
      expect_clean(problem(D, DType::f16, true), o);
    }
  }
}

TEST_F(HopperCompile, NoTileThatTuningMayChooseLosesAnything) {
  const KernelRow& row = **find_kernel("flash_hopper");
  const Device d = *device_for("sm_90a");
  for (const std::int64_t D : {64, 128, 256}) {
    const Problem p = problem(D, DType::f16, true, 4096);
    std::vector<Options> seen;
    for (const Options& o : row.tiles(p, {}, d)) {
      if (!row.supports(row, p, o, d)) continue;
      const auto plan = row.plan(row, p, o, d);
      if (std::ranges::find(seen, plan->options) != seen.end()) continue;
      seen.push_back(plan->options);
      if (!asked_for_all() && (D != 128 || seen.size() > 2)) continue;
      expect_clean(p, plan->options);
    }
    EXPECT_GE(seen.size(), 8U) << D;
  }
}

}  // namespace
}  // namespace attn::gpu
