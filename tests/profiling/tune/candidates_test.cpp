// Which tiles can be tried, and why others cannot.
#include "profiling/tune/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"

namespace attn {
namespace {

Problem problem(std::int64_t L, std::int64_t D, DType t) {
  Problem p;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = L;
  p.D = p.Dv = D;
  p.dtype = t;
  return p;
}

std::vector<TileCandidate> of(const char* kernel, const Problem& p, const char* arch = "sm_90a",
                              const Options& fixed = {}) {
  const auto row = find_kernel(kernel);
  const Device d = (*row)->processor == Processor::cpu ? cpu_device() : *gpu::device_for(arch);
  const auto all = tile_candidates(**row, p, fixed, d);
  EXPECT_TRUE(all) << all.error().message;
  return all.value_or(std::vector<TileCandidate>{});
}

const TileCandidate* find(const std::vector<TileCandidate>& all, std::int32_t br, std::int32_t bc, std::int32_t threads,
                          std::int32_t stages) {
  const auto at = std::ranges::find_if(all, [&](const TileCandidate& c) {
    const Options& o = c.options;
    return o.br == br && o.bc == bc && o.threads == threads && o.stages == stages;
  });
  return at == all.end() ? nullptr : &*at;
}

TEST(TileCandidates, TheUsualTileIsAmongThemOnceAndIsTheKernelsOwn) {
  for (const KernelRow* row : ladder_of(Pass::forward)) {
    if (!has_tiles(*row)) continue;
    const Problem p = problem(1024, 64, row->dtypes.front());
    const Device d = row->processor == Processor::cpu ? cpu_device() : *gpu::device_for("sm_90a");
    const auto all = of(std::string(row->id).c_str(), p);
    EXPECT_EQ(std::ranges::count_if(all, &TileCandidate::usual), 1) << row->id;
    const auto usual = std::ranges::find_if(all, &TileCandidate::usual);
    ASSERT_NE(usual, all.end()) << row->id;
    EXPECT_EQ(usual->options, row->plan(*row, p, {}, d)->options) << row->id;
  }
}

TEST(TileCandidates, WhatFitsIsWhatTheKernelPlans) {
  const KernelRow& row = **find_kernel("flash_mma");
  const Problem p = problem(4096, 128, DType::f16);
  const Device d = *gpu::device_for("sm_80");
  std::size_t fits = 0;
  for (const TileCandidate& c : of("flash_mma", p, "sm_80")) {
    const auto plan = row.plan(row, p, c.options, d);
    EXPECT_EQ(c.why_not.empty(), plan.has_value()) << tile_words(row, c.options);
    if (!plan) continue;
    ++fits;
    EXPECT_EQ(c.shared_bytes, plan->launches.front().shared_bytes);
    EXPECT_EQ(c.threads, plan->launches.front().block[0]);
    EXPECT_LE(c.shared_bytes, 163 * 1024);
    EXPECT_GE(c.occupancy.blocks, 1);
  }
  EXPECT_GT(fits, 40U);
}

TEST(TileCandidates, ATileThatNoThreadsAndStagesMakeFitSaysWhichMemoryItNeeds) {
  const auto all = of("flash_mma", problem(4096, 256, DType::f16), "sm_86");
  const auto at = std::ranges::find_if(
      all, [](const TileCandidate& c) { return c.options.br == 256 && c.options.bc == 128 && !c.why_not.empty(); });
  ASSERT_NE(at, all.end());
  EXPECT_NE(at->why_not.find("bytes of shared memory, but sm_86 has 101376"), std::string::npos) << at->why_not;
}

TEST(TileCandidates, ThreadsAreThoseThatTheTileTakesAndStagesAreAll) {
  const auto all = of("flash_mma", problem(4096, 64, DType::f16));
  for (const std::int32_t threads : {64, 128})
    for (const std::int32_t stages : {1, 2, 3, 4})
      EXPECT_NE(find(all, 64, 64, threads, stages), nullptr) << threads << " " << stages;
  EXPECT_EQ(find(all, 64, 64, 256, 2), nullptr);
  for (const TileCandidate& c : of("flash_mma", problem(4096, 64, DType::f16), "sm_75"))
    EXPECT_TRUE(!c.why_not.empty() || c.options.stages <= 2) << c.options.stages;  // no asynchronous copies
}

TEST(TileCandidates, WhatIsFixedIsNotVaried) {
  Options fixed;
  fixed.stages = 2;
  fixed.threads = 128;
  for (const TileCandidate& c : of("flash_mma", problem(4096, 64, DType::f16), "sm_90a", fixed)) {
    if (!c.why_not.empty()) continue;
    EXPECT_EQ(c.options.stages, 2);
    EXPECT_EQ(c.options.threads, 128);
  }
}

TEST(TileCandidates, ThreadsOfACpuKernelStayAsTheyAre) {
  Options fixed;
  fixed.threads = 2;
  for (const TileCandidate& c : of("cpu_flash", problem(512, 64, DType::f32), "", fixed))
    EXPECT_EQ(c.options.threads, 2);
}

TEST(TileCandidates, BeyondTheFirstSideThatHoldsEveryRowThereIsNothingNew) {
  std::int32_t most = 0;
  for (const TileCandidate& c : of("cpu_flash", problem(40, 8, DType::f32)))
    if (!c.usual) most = std::max({most, c.options.br, c.options.bc});
  EXPECT_EQ(most, 64);  // 64 is the usual side; of the others 48 is the first that holds 40 rows
}

TEST(TileCandidates, AKernelWithoutTilesIsRefusedByName) {
  const auto all = tile_candidates(**find_kernel("naive"), problem(64, 8, DType::f32), {}, *gpu::device_for("sm_90a"));
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().message, "naive has no tile to tune.");
}

TEST(TileCandidates, OccupancyIsAtMostUntilTheCompilerHasSpoken) {
  auto all = of("flash_mma", problem(4096, 64, DType::f16));
  TileCandidate c = *find(all, 64, 64, 128, 1);
  const std::int32_t at_most = c.occupancy.blocks;
  put_compiled(c, {255, 0, 0}, *gpu::device_for("sm_90a"));
  EXPECT_LT(c.occupancy.blocks, at_most);
  EXPECT_EQ(c.occupancy.limiter, "registers");
  EXPECT_TRUE(c.why_not.empty());
  c.threads = 1024;
  put_compiled(c, {255, 0, 0}, *gpu::device_for("sm_90a"));
  EXPECT_NE(c.why_not.find("1024 threads with 255 registers"), std::string::npos) << c.why_not;
}

TEST(TileCandidates, TheUsualIsTriedFirstThenOneOfEachTileThenTheRest) {
  const auto all = of("flash_mma", problem(4096, 64, DType::f16));
  const auto order = order_to_try(all);
  const auto fits = std::ranges::count_if(all, [](const TileCandidate& c) { return c.why_not.empty(); });
  ASSERT_EQ(static_cast<std::ptrdiff_t>(order.size()), fits);
  EXPECT_TRUE(all[order.front()].usual);
  std::set<std::pair<std::int32_t, std::int32_t>> tiles, seen;
  for (const std::size_t n : order) tiles.emplace(all[n].options.br, all[n].options.bc);
  for (std::size_t n = 0; n < tiles.size(); ++n)
    EXPECT_TRUE(seen.emplace(all[order[n]].options.br, all[order[n]].options.bc).second) << n;
}

// flash_hopper's options go together: it says itself what is worth a try.
TEST(TileCandidates, ARowMayProposeItsOwn) {
  const KernelRow& row = **find_kernel("flash_hopper");
  for (const std::int64_t D : {64, 96, 128, 192, 256}) {
    const auto all = of("flash_hopper", problem(4096, D, DType::f16));
    EXPECT_EQ(std::ranges::count_if(all, &TileCandidate::usual), 1);
    EXPECT_GE(std::ranges::count_if(all, [](const TileCandidate& c) { return c.why_not.empty(); }), 8) << D;
    EXPECT_LE(all.size(), 50U) << D;
    for (const TileCandidate& c : all) EXPECT_EQ(c.why_not.empty(), !c.reason.empty()) << tile_words(row, c.options);
  }
  Options fixed;
  fixed.br = 128;
  const auto some = of("flash_hopper", problem(4096, 128, DType::f16), "sm_90a", fixed);
  EXPECT_GE(some.size(), 4U);
  for (const TileCandidate& c : some) EXPECT_EQ(c.options.br, 128);
}

}  // namespace
}  // namespace attn
