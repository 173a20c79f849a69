// ptxas is believed: flash_bwd_hopper spills nowhere, and of no build it says that products are serialised ("Potential
// Performance Loss"). Its registers are nearly all taken, so a few more numbers kept at a time would show here.
#include <gtest/gtest.h>

#include "kernels/gpu/rungs/backward/backward_plan.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/ladder.h"
#include "tests/kernels/gpu/rungs/compile_fixture.h"

namespace attn::gpu {
namespace {

class HopperBackwardCompile : public test::CompileTest {
 protected:
  void expect_clean(std::int64_t dims, DType dtype, bool deterministic) {
    const KernelRow& row = **find_kernel("flash_bwd_hopper");
    const Device d = *device_for("sm_90a");
    Problem p;
    p.B = p.Hq = p.Hkv = 2;
    p.Lq = p.Lk = 300;
    p.D = p.Dv = dims;
    p.dtype = dtype;
    p.pass = Pass::backward;
    Options o;
    choose(o, kDeterministic, deterministic ? 1 : 0);
    const auto plan = row.plan(row, p, o, d);
    ASSERT_TRUE(plan) << plan.error().message;
    ASSERT_EQ(is_deterministic(plan->options), deterministic);
    SCOPED_TRACE(describe(p) + (deterministic ? " deterministic" : ""));
    const auto report = inspect(*service_, *plan, d, {});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->entries.size(), 3U);
    for (const EntryReport& e : report->entries) {
      EXPECT_EQ(e.figures.spill_store_bytes + e.figures.spill_load_bytes, 0) << e.figures.name;
    }
    EXPECT_TRUE(report->compiled.losses.empty()) << report->compiled.losses.front();
    EXPECT_TRUE(report->compiled.warnings.empty()) << report->compiled.warnings.front();
  }
};

TEST_F(HopperBackwardCompile, WhatShipsLosesNothing) {
  for (const std::int64_t dims : {64, 128}) {
    for (const bool deterministic : {false, true}) {
      expect_clean(dims, DType::f16, deterministic);
      if (asked_for_all()) expect_clean(dims, DType::bf16, deterministic);
    }
  }
}

}  // namespace
}  // namespace attn::gpu
