#include "viz/profile/figures/proposed_rungs.h"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/viz/profile/profile_rows.h"
#include "viz/profile/figures/findings.h"

namespace attn {
namespace {

using profile_test::h100_row;
using profile_test::put;

// Few warps, and no pipe at its limit.
Measurement few_warps_of(std::string_view kernel) {
  Measurement m = h100_row(kernel, 59526);
  m.key.problem.dtype = DType::f16;
  put(m, "dram_peak_share_pct", 20);
  put(m, "peak_share_pct", 40);
  put(m, "tensor_pipe_pct", 30);
  put(m, "occupancy_achieved_pct", 12.5);
  return m;
}

bool finds(const Measurement& m, std::string_view rule) {
  const auto all = findings_of(m, FindingContext{"sm_90a", 132}, 99);
  return std::ranges::any_of(all, [&](const Finding& f) { return f.rule == rule; });
}

TEST(ProposedRungs, OfTensorCoresHangOnTheChip) {
  EXPECT_EQ(on_tensor_cores(DType::f16, "sm_90a"), "flash_hopper");
  EXPECT_EQ(on_tensor_cores(DType::f16, "sm_80"), "flash_mma");
  EXPECT_EQ(on_tensor_cores(DType::bf16, ""), "flash_mma");
  EXPECT_EQ(on_tensor_cores(DType::f32, "sm_90a"), "flash_tf32x3");
}

TEST(ProposedRungs, FewWarpsAreNoFindingWhereTheyMoveTheirRegisters) {
  EXPECT_TRUE(finds(few_warps_of("flash_mma"), "few_warps"));
  EXPECT_FALSE(finds(few_warps_of("flash_hopper"), "few_warps"));
}

}  // namespace
}  // namespace attn
