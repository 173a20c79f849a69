// ptxas is believed: what flash_splitkv chooses spills on no architecture that it runs on.

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "tests/kernels/gpu/rungs/compile_fixture.h"

namespace attn::gpu {
namespace {

Problem problem(std::int64_t D, DType dtype, std::int64_t Lq = 1) {
  Problem p;
  p.B = 2;
  p.Hq = 16;
  p.Hkv = 4;
  p.Lq = Lq;
  p.Lk = 20000;
  p.D = p.Dv = D;
  p.dtype = dtype;
  return p;
}

Problem paged(Problem p, std::int64_t page) {
  p.storage = {page, 60000};
  return p;
}

class SplitkvCompile : public test::CompileTest {
 protected:
  void expect_clean(const Problem& p, std::string_view arch = "sm_90a") {
    const KernelRow& row = **find_kernel("flash_splitkv");
    const Device d = *device_for(arch);
    const auto plan = row.plan(row, p, {}, d);
    ASSERT_TRUE(plan) << plan.error().message;
    SCOPED_TRACE(describe(p) + " on " + std::string(arch) + ": " + row.reason(p, plan->options, d));
    const auto report = inspect(*service_, *plan, d, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->entries.size(), plan->launches.size());
    for (const EntryReport& e : report->entries) {
      EXPECT_EQ(e.figures.spill_store_bytes + e.figures.spill_load_bytes, 0) << e.figures.name;
      EXPECT_GE(e.occupancy.blocks, 1) << e.figures.name;
    }
    EXPECT_TRUE(report->compiled.losses.empty()) << report->compiled.losses.front();
    EXPECT_TRUE(report->compiled.warnings.empty()) << report->compiled.warnings.front();
  }
};

TEST_F(SplitkvCompile, WhatIsChosenDoesNotSpill) {
  expect_clean(problem(128, DType::f16));
  expect_clean(paged(problem(128, DType::bf16, 5), 16));
  expect_clean(problem(256, DType::f16));
  expect_clean(paged(problem(224, DType::f16, 4), 1));  // rows whose chunks are no power of two
  expect_clean(problem(128, DType::f32));
  if (asked_for_all()) expect_clean(problem(256, DType::f32, 8));
}

TEST_F(SplitkvCompile, ClustersDoNotSpill) {
  Problem p = problem(128, DType::f16);
  p.B = 1;
  p.Hq = 32;
  p.Hkv = 8;
  const KernelRow& row = **find_kernel("flash_splitkv");
  ASSERT_EQ(row.plan(row, p, {}, *device_for("sm_90a"))->launches.front().name, "flash_splitkv_cluster");
  expect_clean(p);
  if (!asked_for_all()) return;
  expect_clean(p, "sm_100");
  for (const std::int64_t D : {40, 59, 64, 80, 96}) {
    p.D = p.Dv = D;
    expect_clean(p);
    expect_clean(paged(p, 16));
  }
}

// A test a head dimension: the list takes minutes, and each has the whole time limit.
class SplitkvCompileOfD : public SplitkvCompile, public testing::WithParamInterface<std::int64_t> {};

TEST_P(SplitkvCompileOfD, DoesNotSpill) {
  if (!asked_for_all()) GTEST_SKIP() << "one of the long lists: tests/run.sh --full";
  const std::int64_t D = GetParam();
  for (const std::int64_t Lq : {1, 64}) expect_clean(problem(D, D % 3 == 0 ? DType::bf16 : DType::f16, Lq));
  for (const std::int64_t page : {1, 16}) expect_clean(paged(problem(D, DType::f16, 4), page));
  for (const std::int64_t page : {0, 16}) expect_clean(paged(problem(D, DType::f32, 4), page));
}

INSTANTIATE_TEST_SUITE_P(All, SplitkvCompileOfD, testing::Values(1, 40, 59, 96, 160, 192, 224));

TEST_F(SplitkvCompile, WhatChangesScoresDoesNotSpill) {
  for (const std::int64_t D :
       asked_for_all() ? std::vector<std::int64_t>{59, 64, 128, 256} : std::vector<std::int64_t>{128}) {
    Problem p = problem(D, DType::f16, 8);
    p.bias_shape = {1, 1, 8, 20000};
    expect_clean(p);
    p.softcap = 30;
    p.alibi.emplace();
    expect_clean(p);
    if (asked_for_all()) expect_clean(paged(p, 3));
  }
}

TEST_F(SplitkvCompile, NoArchitectureSpills) {
  const auto archs = (**find_kernel("flash_splitkv")).architectures;
  for (const std::string_view arch : archs) {
    if (!asked_for_all() && arch != "sm_80" && arch != "sm_120") continue;
    expect_clean(problem(128, DType::bf16), arch);
    if (!asked_for_all()) continue;
    for (const std::int64_t D : {64, 128, 256}) {
      Problem p = paged(problem(D, DType::f16, 8), 16);
      p.softcap = 30;
      expect_clean(p, arch);
    }
  }
}

}  // namespace
}  // namespace attn::gpu
