// What all rungs share asks the row that it is given, so it holds for rungs that no table knows yet.
#include "kernels/gpu/rungs/rows.h"

#include <string>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/specialise.h"

namespace attn::gpu {
namespace {

constexpr DType kHalf[] = {DType::f16, DType::bf16};
constexpr std::string_view kNew[] = {"sm_90a", "sm_100"};

Result<Plan> plan_one(const KernelRow& row, const Problem& p, const Options& o, const Device& d) {
  if (const auto arch = limits_for(row, d); !arch) return tl::unexpected(arch.error());
  if (p.D % 16 != 0) return bad_input("tomorrow takes D in steps of 16");
  return plan_of(row, p, o, {launch_of("tomorrow", tiles(p.Lq, 64) * p.B * p.Hq, 128, 1, 1024)});
}

// An id that no table knows, on few architectures, in few dtypes, with an order that an older rung has too.
KernelRow tomorrow() {
  KernelRow row = common_row();
  row.id = "tomorrow";
  row.order = Order::flash;
  row.architectures = kNew;
  row.dtypes = kHalf;
  row.plan = plan_one;
  return row;
}

Problem half(std::int64_t d) {
  Problem p;
  p.Lq = p.Lk = 100;
  p.D = p.Dv = d;
  p.dtype = DType::f16;
  return p;
}

std::string refusal(const KernelRow& row, const Problem& p, std::string_view arch = "sm_90a") {
  const auto can = row.supports(row, p, {}, *device_for(arch));
  return can ? "taken" : can.error().message;
}

TEST(ARungNotYetInTheTable, IsAskedAboutItsOwnRow) {
  const KernelRow row = tomorrow();
  EXPECT_EQ(refusal(row, half(64)), "taken");
  EXPECT_EQ(refusal(row, half(64), "sm_80"), "tomorrow runs on sm_90a, sm_100, not on sm_80");
  EXPECT_EQ(refusal(row, half(40)), "tomorrow takes D in steps of 16");
  Problem p = half(64);
  p.dtype = DType::f32;
  EXPECT_EQ(refusal(row, p), "tomorrow supports f16 or bf16, not f32");
  p = half(64);
  p.B = std::int64_t{1} << 31;
  EXPECT_NE(refusal(row, p).find("needs 4294967296 blocks; a launch allows at most 2147483647"), std::string::npos);
  Device cpu;
  EXPECT_EQ(row.supports(row, half(64), {}, cpu).error().message, "tomorrow runs on a GPU; choose --device gpu");
}

TEST(ARungNotYetInTheTable, StoresScoresWhereItsRowSaysSo) {
  KernelRow row = tomorrow();
  const Problem p = half(64);
  const Device d = *device_for("sm_90a");
  EXPECT_EQ(row.plan(row, p, {}, d)->workspace_bytes, 0U);
  row.stores_scores = true;
  const auto plan = row.plan(row, p, {}, d);
  ASSERT_TRUE(plan);
  EXPECT_GE(plan->workspace_bytes, 100U * 100 * (4 + 2));
  alignas(16) std::byte workspace[16]{};
  Buffers b;
  b.workspace = workspace;
  EXPECT_EQ(args_of(*plan, b).s, reinterpret_cast<float*>(workspace));
  row.stores_scores = false;
  EXPECT_EQ(args_of(*plan, b).s, nullptr);
}

TEST(GpuRows, WordsOfWhatIsNotTakenComeFromTheRow) {
  for (const KernelRow& row : gpu_kernel_table()) {
    if (row.id != "flash_simt") continue;
    Problem p = half(64);
    EXPECT_EQ(refusal(row, p), "flash_simt supports f32, not f16");
  }
}

TEST(GpuRows, AnArchitectureThatIsNotKnownIsRefusedWithThoseThatAre) {
  const auto refused = device_for("sm_70");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "unknown architecture sm_70; use sm_75, sm_80, sm_86, sm_89, sm_90a, sm_100, sm_120.");
}

}  // namespace
}  // namespace attn::gpu
