// What the rungs on tensor cores choose and refuse: tiles, threads, stages, shared memory, architectures.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/tensor_cores/warp_tiles.h"
#include "kernels/ladder.h"

namespace attn::gpu {
namespace {

constexpr std::string_view kRungs[] = {"flash_wmma", "flash_mma", "flash_tf32x3"};
constexpr std::int64_t kDims[] = {1, 8, 32, 36, 40, 59, 64, 80, 96, 100, 111, 128, 160, 192, 224, 256};

const KernelRow& row_of(std::string_view id) {
  return **find_kernel(id);
}

Problem problem(std::int64_t d, DType dtype, bool bias = false) {
  Problem p;
  p.Hq = p.Hkv = 2;
  p.Lq = p.Lk = 300;
  p.D = p.Dv = d;
  p.dtype = dtype;
  if (bias) p.bias_shape = {1, 1, 300, 300};
  return p;
}

Options options(std::int32_t br, std::int32_t bc, std::int32_t threads = 0, std::int32_t stages = 0) {
  Options o;
  o.br = br;
  o.bc = bc;
  o.threads = threads;
  o.stages = stages;
  return o;
}

std::string refusal(std::string_view id, const Problem& p, const Options& o, std::string_view arch = "sm_90a") {
  const auto takes = row_of(id).supports(row_of(id), p, o, *device_for(arch));
  return takes ? "taken" : takes.error().message;
}

TEST(TensorCoreRungs, FindATileForEveryHeadDimensionOnEveryArchitecture) {
  for (const std::string_view id : kRungs) {
    const KernelRow& row = row_of(id);
    for (const std::string_view arch : row.architectures) {
      for (const DType dtype : row.dtypes) {
        if (arch == "sm_75" && dtype == DType::bf16) continue;
        for (const std::int64_t d : kDims) {
          for (const bool bias : {false, true}) {
            Problem p = problem(d, dtype, bias);
            for (const std::int64_t dv : {d, std::int64_t{33}, std::int64_t{256}}) {
              p.Dv = dv;
              const auto plan = row.plan(row, p, {}, *device_for(arch));
              ASSERT_TRUE(plan) << describe(p) << ": " << plan.error().message;
              const Options& o = plan->options;
              ASSERT_EQ(plan->launches.size(), 1U);
              EXPECT_EQ(plan->launches[0].name, id);
              EXPECT_EQ(plan->launches[0].grid[0], 2 * tiles(300, o.br));
              EXPECT_GT(plan->launches[0].shared_bytes, 0);
              EXPECT_LE(plan->launches[0].shared_bytes, limits_of(arch)->shared_block) << arch << " " << describe(p);
              const std::int32_t rows = kWarp * o.br / o.threads;
              EXPECT_TRUE(rows == 16 || rows == 32) << rows;
            }
          }
        }
      }
    }
  }
}

TEST(TensorCoreRungs, TakeTheTilesTheyWereMeasuredWith) {
  struct Usual {
    std::string_view id;
    DType dtype;
    std::int64_t d;
    std::int32_t br, bc, threads, stages;
  };
  for (const Usual& u : {Usual{"flash_mma", DType::f16, 64, 128, 128, 128, 2},
                         {"flash_mma", DType::f16, 128, 128, 64, 128, 2},
                         {"flash_mma", DType::bf16, 256, 128, 64, 256, 2},
                         {"flash_wmma", DType::f16, 128, 128, 64, 128, 0},
                         {"flash_wmma", DType::bf16, 128, 128, 48, 128, 0},
                         {"flash_wmma", DType::bf16, 64, 64, 64, 64, 0},
                         {"flash_tf32x3", DType::f32, 64, 128, 32, 128, 2},
                         {"flash_tf32x3", DType::f32, 128, 128, 64, 256, 2}}) {
    const KernelRow& row = row_of(u.id);
    const auto plan = row.plan(row, problem(u.d, u.dtype), {}, *device_for("sm_90a"));
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->options, options(u.br, u.bc, u.threads, u.stages)) << u.id << " D = " << u.d;
  }
}

TEST(TensorCoreRungs, ChooseWhatIsLeftOutToFitWhatIsGiven) {
  const KernelRow& row = row_of("flash_mma");
  const auto plan = row.plan(row, problem(128, DType::f16), options(48, 0), *device_for("sm_90a"));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->options.threads, 96) << "48 is no multiple of 32: 16 rows a warp";
  const auto stages = row.plan(row, problem(128, DType::f16), options(0, 0, 0, 3), *device_for("sm_90a"));
  ASSERT_TRUE(stages) << stages.error().message;
  EXPECT_EQ(stages->options.stages, 3);
}

TEST(TensorCoreRungs, RefuseThreadsThatLeaveAWarpOtherRows) {
  const Problem p = problem(64, DType::f16);
  EXPECT_EQ(refusal("flash_mma", p, options(64, 64, 64)), "taken");
  EXPECT_EQ(refusal("flash_mma", p, options(64, 64, 128)), "taken");
  EXPECT_EQ(refusal("flash_mma", p, options(64, 64, 96)),
            "flash_mma needs 64 or 128 threads for 64 query rows per tile, with 16 or 32 rows per warp; 96 threads do "
            "not work.");
  EXPECT_EQ(
      refusal("flash_wmma", p, options(16, 64, 64)),
      "flash_wmma needs 32 threads for 16 query rows per tile, with 16 or 32 rows per warp; 64 threads do not work.");
}

TEST(TensorCoreRungs, RefuseATileThatSharedMemoryCannotHold) {
  const std::string words = refusal("flash_mma", problem(256, DType::f16), options(128, 64, 256, 3));
  EXPECT_EQ(words,
            "flash_mma does not fit at 128 x 64, 3 stages, D = 256 and Dv = 256: a block needs 262144 bytes of shared "
            "memory, but sm_90a has 232448. Use a smaller Br or Bc or fewer stages, or omit the tile.");
  EXPECT_EQ(refusal("flash_mma", problem(256, DType::f16), options(128, 64, 256, 2)), "taken");
}

// Before sm_80 there is no cp.async, no bf16 and no TF32.
TEST(TensorCoreRungs, SayWhatSm75Lacks) {
  EXPECT_EQ(refusal("flash_mma", problem(64, DType::f16), {}, "sm_75"), "taken");
  EXPECT_EQ(refusal("flash_mma", problem(64, DType::bf16), {}, "sm_75"),
            "flash_mma supports only f16 on sm_75, whose tensor cores do not support bf16");
  EXPECT_EQ(refusal("flash_wmma", problem(64, DType::bf16), {}, "sm_75"),
            "flash_wmma supports only f16 on sm_75, whose tensor cores do not support bf16");
  EXPECT_EQ(refusal("flash_mma", problem(64, DType::f16), options(32, 32, 32, 3), "sm_75"),
            "flash_mma supports at most 2 stages on sm_75, which has no asynchronous copies; 3 do not work.");
  EXPECT_EQ(refusal("flash_tf32x3", problem(64, DType::f32), {}, "sm_75"),
            "flash_tf32x3 runs on sm_80, sm_86, sm_89, sm_90a, sm_100, sm_120, not on sm_75");
}

bool has(const std::vector<std::string>& defines, std::string_view start) {
  return std::ranges::any_of(defines, [&](const std::string& d) { return d.starts_with(start); });
}

// What a kernel is compiled with names its cubin on disk: a define more would throw away what older rungs have there.
TEST(TensorCoreRungs, StagesAreADefineOnlyOfRungsThatHaveThem) {
  for (const KernelRow& row : gpu_kernel_table()) {
    const auto plan = row.plan(row, problem(64, row.dtypes.front()), {}, *device_for("sm_90a"));
    ASSERT_TRUE(plan) << plan.error().message;
    const bool reads = std::ranges::any_of(row.options, [](const OptionSpec& o) { return o.is(Option::stages); });
    EXPECT_EQ(has(defines_of(*plan, true), "ATTN_STAGES="), reads) << row.id;
  }
}

TEST(TensorCoreRungs, OfTilesTheFirstThatFillsAMultiprocessorIsTaken) {
  static constexpr WarpTile kTiles[] = {{128, 64, 32, 2}, {64, 64, 32, 2}, {32, 64, 32, 1}};
  // Bytes by tile height alone. sm_90a has 228 KiB, of which each block costs one, and registers for eight warps.
  const auto bytes = [](std::int64_t a_row) {
    static std::int64_t of_row = 0;
    of_row = a_row;
    return static_cast<SharedBytesFn>([](const Problem&, const Options& o) { return o.br * of_row; });
  };
  const ArchLimits arch = *limits_of("sm_90a");
  const Problem p = problem(64, DType::f16);
  EXPECT_EQ(first_that_fits(kTiles, p, arch, bytes(800)).br, 128);
  EXPECT_EQ(first_that_fits(kTiles, p, arch, bytes(1000)).br, 128) << "none fills it, so the first that fits at all";
  EXPECT_EQ(first_that_fits(kTiles, p, arch, bytes(3000)).br, 64);
  EXPECT_EQ(first_that_fits(kTiles, p, arch, bytes(9000)).br, 32) << "none fits: the last, which the plan refuses";
}

}  // namespace
}  // namespace attn::gpu
