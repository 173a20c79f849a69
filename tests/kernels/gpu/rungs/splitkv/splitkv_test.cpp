// What flash_splitkv chooses and refuses, and which keys its parts have: no GPU is needed.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/compile/occupancy.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/gpu/rungs/splitkv/splitkv_parts.h"
#include "kernels/gpu/rungs/splitkv/splitkv_tile.h"
#include "kernels/ladder.h"

namespace attn::gpu {
namespace {

const KernelRow& splitkv() {
  return **find_kernel("flash_splitkv");
}

Problem decoding(std::int64_t B, std::int64_t Hq, std::int64_t Hkv, std::int64_t Lk, std::int64_t D = 128) {
  Problem p;
  p.B = B;
  p.Hq = Hq;
  p.Hkv = Hkv;
  p.Lk = Lk;
  p.D = p.Dv = D;
  p.dtype = DType::f16;
  return p;
}

std::string refusal(const Problem& p, const Options& o = {}, std::string_view arch = "sm_90a") {
  const auto takes = splitkv().supports(splitkv(), p, o, *device_for(arch));
  return takes ? "taken" : takes.error().message;
}

Plan plan_of_problem(const Problem& p, const Options& o = {}, std::string_view arch = "sm_90a") {
  const auto plan = splitkv().plan(splitkv(), p, o, *device_for(arch));
  EXPECT_TRUE(plan) << plan.error().message;
  return *plan;
}

// ---- parts

struct Meeting {
  int part, batch;
  std::int64_t first, last;  // blocks of the batch
};

// As a block of the kernel finds its own.
std::vector<Meeting> meetings(const std::vector<std::int64_t>& counts, int asked) {
  std::int64_t line = 0;
  for (const std::int64_t n : counts) line += n + kBatchCost;
  const int parts = parts_used(line, asked);
  std::vector<Meeting> all;
  for (int part = 0; part < parts; ++part) {
    const std::int64_t begin = part_begin(line, parts, part), end = part_begin(line, parts, part + 1);
    std::int64_t at = 0;
    for (int b = 0; b < static_cast<int>(counts.size()); ++b) {
      const std::int64_t n = counts[static_cast<std::size_t>(b)];
      const std::int64_t first = blocks_before(begin, at, n), last = blocks_before(end, at, n);
      if (first < last) all.push_back({part, b, first, last});
      at += n + kBatchCost;
    }
  }
  return all;
}

TEST(SplitParts, HaveEveryBlockOnceAndSlotsOfTheirOwn) {
  std::mt19937_64 engine{3};
  for (int n = 0; n < 400; ++n) {
    std::vector<std::int64_t> counts(1 + engine() % 40);
    for (std::int64_t& count : counts)
      count = engine() % 4 == 0 ? 0 : static_cast<std::int64_t>(engine() % (n % 2 == 0 ? 30 : 3000));
    const int asked = 1 + static_cast<int>(engine() % 300);
    std::int64_t line = 0;
    for (const std::int64_t count : counts) line += count + kBatchCost;
    const int parts = parts_used(line, asked);
    std::vector<std::int64_t> done(counts.size());
    std::set<int> slots;
    for (const Meeting& m : meetings(counts, asked)) {
      EXPECT_EQ(m.first, done[static_cast<std::size_t>(m.batch)]) << "parts of a batch follow one another";
      done[static_cast<std::size_t>(m.batch)] = m.last;
      EXPECT_TRUE(slots.insert(m.part + m.batch).second) << "slot " << m.part + m.batch << " twice";
      EXPECT_LT(m.part + m.batch, asked + static_cast<int>(counts.size()) - 1);
      EXPECT_LE(m.last - m.first, line / parts + 1) << "longer than its share";
    }
    EXPECT_EQ(done, counts);
  }
}

// The merge finds a batch's first and last part by points of the line: all between them, and they alone, have blocks.
TEST(SplitParts, OfABatchAreFoundAgain) {
  std::mt19937_64 engine{4};
  for (int n = 0; n < 200; ++n) {
    std::vector<std::int64_t> counts(1 + engine() % 9);
    for (std::int64_t& count : counts) count = static_cast<std::int64_t>(engine() % 200);
    const int asked = 1 + static_cast<int>(engine() % 140);
    std::int64_t line = 0, at = 0;
    for (const std::int64_t count : counts) line += count + kBatchCost;
    const int parts = parts_used(line, asked);
    const std::vector<Meeting> all = meetings(counts, asked);
    for (int b = 0; b < static_cast<int>(counts.size()); ++b) {
      const std::int64_t count = counts[static_cast<std::size_t>(b)];
      std::vector<int> met;
      for (const Meeting& m : all)
        if (m.batch == b) met.push_back(m.part);
      if (count > 0) {
        const int first = part_at(line, parts, at + kBatchCost),
                  last = part_at(line, parts, at + kBatchCost + count - 1);
        ASSERT_FALSE(met.empty());
        EXPECT_EQ(met.front(), first);
        EXPECT_EQ(met.back(), last);
        EXPECT_EQ(static_cast<int>(met.size()), last - first + 1);
      } else {
        EXPECT_TRUE(met.empty());
      }
      at += count + kBatchCost;
    }
  }
}

TEST(SplitParts, CutALongBatchAndLeaveShortOnesWhole) {
  const std::vector<Meeting> all = meetings({4, 4, 4000, 4}, 8);
  EXPECT_EQ(std::ranges::count(all, 2, &Meeting::batch), 8);
  for (const int b : {0, 1, 3}) EXPECT_EQ(std::ranges::count(all, b, &Meeting::batch), 1) << b;
}

// One batch: every block is some warp's, and no part that has none stands before one that has.
TEST(SplitParts, OfTheOnlyBatchAreDealtOut) {
  std::mt19937_64 engine{6};
  for (int n = 0; n < 400; ++n) {
    const auto count = static_cast<std::int64_t>(engine() % (n % 2 == 0 ? 60 : 5000));
    const int warps = 1 << engine() % 4, parts = 1 + static_cast<int>(engine() % 140);
    std::vector<int> times(static_cast<std::size_t>(count));
    int with_blocks = 0;
    for (int part = 0; part < parts; ++part) {
      int has = 0;
      for (int warp = 0; warp < warps; ++warp)
        for (std::int64_t j = std::int64_t{part} * warps + warp; j < count; j += std::int64_t{parts} * warps, ++has)
          ++times[static_cast<std::size_t>(j)];
      EXPECT_EQ(has > 0, part < parts_dealt(count, warps, parts)) << count << " blocks, part " << part;
      with_blocks += has > 0 ? 1 : 0;
    }
    EXPECT_EQ(parts_dealt(count, warps, parts), with_blocks);
    EXPECT_TRUE(std::ranges::all_of(times, [](int t) { return t == 1; }));
  }
}

// ---- the model

TEST(Splitkv, FillsTheMultiprocessorsAndSaysWhy) {
  const Problem p = decoding(2, 32, 8, 65536);
  const Plan plan = plan_of_problem(p);
  EXPECT_EQ(chosen(plan.options, kSplits), 16);
  EXPECT_EQ(splitkv().reason(p, plan.options, *device_for("sm_90a")),
            "8 heads on 132 SMs: 16 splits, with 64.0 KiB in flight per SM");
  EXPECT_EQ(plan.launches[0].grid[0], 8 * 16);
  // Dealt out, 8192 blocks make eight turns of eight warps in 128 parts and in 132.
  EXPECT_EQ(chosen(plan_of_problem(decoding(1, 1, 1, 131072)).options, kSplits), 128);
  // As many heads as SMs have room for: nothing is gained by a cut.
  EXPECT_EQ(plan_of_problem(decoding(1, 264, 264, 4096)).launches.size(), 1U);
  // Few keys are not cut into parts that would each have next to none.
  EXPECT_LE(chosen(plan_of_problem(decoding(1, 8, 1, 128)).options, kSplits).value_or(1), 4);
}

// Eight warps, of which one is missed little while it computes; where there is much to read, no multiprocessor has so
// much on its way that others wait for their share.
TEST(Splitkv, KeepsMoreOnItsWayWhereLittleIsRead) {
  const auto pipeline = [](const Problem& p) {
    const Options o = plan_of_problem(p).options;
    return std::pair{o.threads, o.stages};
  };
  EXPECT_EQ(pipeline(decoding(7, 32, 8, 5000)), (std::pair{256, 3}));   // 0.5 MiB an SM
  EXPECT_EQ(pipeline(decoding(64, 32, 8, 4096)), (std::pair{256, 2}));  // 7.8 MiB
  EXPECT_EQ(splitkv().reason(decoding(64, 32, 8, 4096), plan_of_problem(decoding(64, 32, 8, 4096)).options,
                             *device_for("sm_90a")),
            "8 heads on 132 SMs: 16 splits, with 64.0 KiB in flight per SM");
  // Four warps are all that fit with D = 256: a tile less is missed.
  EXPECT_EQ(pipeline(decoding(64, 32, 8, 4096, 256)), (std::pair{128, 3}));
}

// Half the multiprocessors with twice as much on its way each: a cluster's parts need no second launch, nor memory.
TEST(Splitkv, MergesTheOnlyBatchInClusters) {
  for (const std::int64_t Lk : {64, 4096, 131072}) {
    const Problem p = decoding(1, 32, 8, Lk);
    const Plan plan = plan_of_problem(p);
    ASSERT_EQ(plan.launches.size(), 1U);
    const Launch& l = plan.launches[0];
    EXPECT_EQ(l.name, "flash_splitkv_cluster");
    EXPECT_EQ((std::vector<std::int64_t>{l.grid[0], l.grid[1], l.grid[2]}), (std::vector<std::int64_t>{8, 1, 8}));
    EXPECT_EQ((std::vector<std::int64_t>{l.cluster[0], l.cluster[1], l.cluster[2]}),
              (std::vector<std::int64_t>{8, 1, 1}));
    EXPECT_EQ(plan.workspace_bytes, 0U);
    EXPECT_EQ(splitkv().reason(p, plan.options, *device_for("sm_90a")),
              "8 heads on 64 of 132 SMs: clusters of 8 splits, with 128 KiB in flight per SM");
  }
  // Key lengths are no matter: they are read where the parts are.
  Problem p = decoding(1, 32, 8, 4096);
  p.mask.key_lengths = {17};
  EXPECT_EQ(plan_of_problem(p).launches[0].name, "flash_splitkv_cluster");
  // What has been asked for stays.
  Options asked;
  choose(asked, kSplits, 16);
  EXPECT_EQ(plan_of_problem(p, asked).launches[0].name, "flash_splitkv");
  EXPECT_EQ(plan_of_problem(p, asked).launches[0].grid[0], 8 * 16);
  asked = {};
  asked.threads = 128;
  asked.stages = 3;  // 64 KiB
  EXPECT_EQ(plan_of_problem(p, asked).launches[0].name, "flash_splitkv");
  // Not for several batches, for too few or too many heads, for what computes more, nor on a GPU without clusters.
  const auto first_launch = [](const Problem& q, std::string_view arch = "sm_90a") {
    return plan_of_problem(q, {}, arch).launches[0].name;
  };
  EXPECT_EQ(first_launch(decoding(2, 32, 8, 4096)), "flash_splitkv");
  for (const std::int64_t heads : {1, 2, 3, 4, 5, 6, 9, 10, 12, 13, 16, 32}) {
    const bool few = heads >= 4 && heads <= 12, half = heads >= 6 && heads <= 9;
    EXPECT_EQ(first_launch(decoding(1, heads, heads, 4096)), few ? "flash_splitkv_cluster" : "flash_splitkv") << heads;
    EXPECT_EQ(first_launch(decoding(1, heads, heads, 65536)), half ? "flash_splitkv_cluster" : "flash_splitkv")
        << heads;
  }
  EXPECT_EQ(first_launch(decoding(1, 8, 8, 4096), "sm_100"), "flash_splitkv_cluster");
  for (const std::string_view arch : {"sm_80", "sm_89", "sm_120"})
    EXPECT_EQ(first_launch(decoding(1, 8, 8, 4096), arch), "flash_splitkv") << arch;
  p = decoding(1, 32, 8, 4096);
  p.softcap = 30;
  EXPECT_EQ(first_launch(p), "flash_splitkv");
  p.softcap.reset();
  p.dtype = DType::f32;
  EXPECT_EQ(first_launch(p), "flash_splitkv");
}

TEST(Splitkv, KeepsSixtyFourKibibytesOnTheirWayWhereSharedMemoryHoldsThem) {
  for (const std::string_view arch : splitkv().architectures) {
    const ArchLimits limits = *limits_of(arch);
    for (const std::int64_t D : {8, 32, 64, 80, 128, 192, 256}) {
      const Problem p = decoding(1, 8, 2, 65536, D);
      const Options o = plan_of_problem(p, {}, arch).options;
      const std::int64_t stage = 2 * o.bc * (2 * ((D + 15) / 16 * 16)) * (o.threads / 32);
      const std::int64_t way = split_blocks_of_sm(p, o, limits) * (o.stages - 1) * stage;
      EXPECT_GE(way, (limits.shared > 120000 && D >= 32 ? 64 : 24) << 10) << arch << " D = " << D;
    }
  }
}

TEST(Splitkv, LaunchesDoNotDependOnKeyLengths) {
  Problem p = decoding(16, 32, 8, 8192);
  p.mask.key_lengths.assign(16, 8192);
  const Plan full = plan_of_problem(p);
  p.mask.key_lengths.assign(16, 0);
  p.mask.key_lengths[3] = 17;
  const Plan ragged = plan_of_problem(p);
  EXPECT_EQ(full.options, ragged.options);
  ASSERT_EQ(full.launches.size(), ragged.launches.size());
  for (std::size_t n = 0; n < full.launches.size(); ++n)
    EXPECT_EQ(full.launches[n].grid[0], ragged.launches[n].grid[0]);
  EXPECT_EQ(full.workspace_bytes, ragged.workspace_bytes);
}

TEST(Splitkv, HasRoomForEveryPartOfEveryBatch) {
  Options o;
  choose(o, kSplits, 5);
  Problem p = decoding(3, 4, 2, 1000, 64);
  p.Lq = 2;
  const SplitWorkspace at = split_workspace(p, 5, 100);
  EXPECT_EQ(at.o, 256U);
  EXPECT_EQ(at.lse, 256U + 4U * 7 * 4 * 2 * 64);
  EXPECT_EQ(at.end, at.lse + 4U * 7 * 4 * 2);
  EXPECT_EQ(plan_of_problem(p, o).workspace_bytes, split_workspace(p, 5, 0).end);
  choose(o, kSplits, 1);
  EXPECT_EQ(plan_of_problem(p, o).workspace_bytes, 0U);
  EXPECT_EQ(split_workspace(p, 1, 100).end, 100U);
}

// The merge may start while the parts end, where a GPU can do that.
TEST(Splitkv, MergesInALaunchOfItsOwn) {
  const Problem p = decoding(2, 8, 2, 20000);
  const Plan hopper = plan_of_problem(p), ampere = plan_of_problem(p, {}, "sm_80");
  ASSERT_EQ(hopper.launches.size(), 2U);
  EXPECT_EQ(hopper.launches[1].name, "flash_splitkv_merge");
  EXPECT_EQ(hopper.launches[1].grid[0], 2 * 8);
  EXPECT_EQ(hopper.launches[1].grid[1], 4);  // 32 columns each
  EXPECT_FALSE(hopper.launches[0].early_start);
  EXPECT_TRUE(hopper.launches[1].early_start);
  EXPECT_FALSE(ampere.launches[1].early_start);
}

// As the parts of the line lie, whatever the shape: a launch too few would leave a row without its answer.
TEST(Splitkv, MergesNothingWhereThePartsAreWholeBatches) {
  EXPECT_EQ(plan_of_problem(decoding(16, 32, 8, 8192)).launches.size(), 1U);
  EXPECT_EQ(plan_of_problem(decoding(128, 32, 8, 2048)).launches.size(), 1U);
  Problem ragged = decoding(16, 32, 8, 8192);
  ragged.mask.key_lengths.assign(16, 8192);  // others may come
  EXPECT_EQ(plan_of_problem(ragged).launches.size(), 2U);
  std::mt19937_64 engine{5};
  int whole = 0, cut = 0;
  for (int n = 0; n < 2000; ++n) {
    Problem p =
        decoding(1 + static_cast<std::int64_t>(engine() % 24), 8, 2, 1 + static_cast<std::int64_t>(engine() % 600));
    Options o;
    o.br = o.bc = 16;
    o.threads = 128;
    choose(o, kSplits, 2 + static_cast<std::int64_t>(engine() % 30));
    const std::vector<std::int64_t> counts(static_cast<std::size_t>(p.B), (p.Lk + 15) / 16);
    std::set<int> met;
    bool twice = p.B == 1 && counts[0] > 4;  // dealt out, four warps have a block each before the next part has one
    for (const Meeting& m : meetings(counts, static_cast<int>(chosen(o, kSplits).value_or(1))))
      twice = twice || (p.B > 1 && !met.insert(m.batch).second);
    EXPECT_EQ(cuts_no_batch(p, o), !twice) << describe(p) << ", " << chosen(o, kSplits).value_or(1) << " parts";
    ++(twice ? cut : whole);
  }
  EXPECT_GT(whole, 20);
  EXPECT_GT(cut, 20);
}

TEST(Splitkv, CompilesOneTextForEveryNumberOfSplits) {
  Options two, nine;
  choose(two, kSplits, 2);
  choose(nine, kSplits, 9);
  const Problem p = decoding(1, 8, 2, 20000);
  EXPECT_EQ(defines_of(plan_of_problem(p, two), true), defines_of(plan_of_problem(p, nine), true));
}

TEST(Splitkv, TakesEveryHeadDimensionOnItsArchitectures) {
  for (const std::string_view arch : splitkv().architectures) {
    for (const std::int64_t D : {1, 8, 32, 40, 59, 64, 80, 96, 111, 128, 160, 192, 224, 256}) {
      for (const std::int64_t Dv : {D, std::int64_t{33}, std::int64_t{256}}) {
        for (const std::int64_t Lq : {1, 5, 300}) {
          Problem p = decoding(2, 8, 2, 5000, D);
          p.dtype = D % 3 == 0 ? DType::f32 : Lq == 5 ? DType::bf16 : DType::f16;
          p.Dv = Dv;
          p.Lq = Lq;
          EXPECT_EQ(refusal(p, {}, arch), "taken") << describe(p);
          p.softcap = 30;
          p.bias_shape = {1, 1, Lq, 5000};
          EXPECT_EQ(refusal(p, {}, arch), "taken") << describe(p);
        }
      }
    }
  }
}

TEST(Splitkv, RefusesInWords) {
  Problem p = decoding(1, 8, 2, 1000);
  p.Lk = (std::int64_t{1} << 29) + 1;
  EXPECT_EQ(refusal(p), "flash_splitkv needs row, key and batch counts that fit in 32 bits; use at most 536870912.");
  p.Lk = 1000;
  EXPECT_EQ(refusal(p), "taken");
  EXPECT_EQ(refusal(p, {}, "sm_75"),
            "flash_splitkv runs on sm_80, sm_86, sm_89, sm_90a, sm_100, sm_120, not on sm_75: its copies use cp.async, "
            "which needs sm_80 or newer; flash_mma supports f16 on this GPU");
  Options o;
  o.br = 64;
  EXPECT_NE(refusal(p, o).find("Use fewer rows or keys"), std::string::npos);
  o = {};
  o.stages = 8;
  o.threads = 256;
  EXPECT_NE(refusal(p, o).find("Use fewer threads or stages"), std::string::npos);
  p.storage = {16, 63};
  EXPECT_EQ(refusal(p), "taken");
  p.layout = AxisOrder::blhd;
  EXPECT_EQ(refusal(p), "taken");
}

TEST(Splitkv, OffersTuningWhatItTakes) {
  const Problem p = decoding(1, 8, 2, 50000);
  const Device d = *device_for("sm_90a");
  const std::vector<Options> all = splitkv().tiles(p, {}, d);
  EXPECT_GE(all.size(), 5U);
  for (const Options& o : all) EXPECT_TRUE(splitkv().supports(splitkv(), p, o, d)) << o.threads << " " << o.stages;
  Options fixed;
  choose(fixed, kSplits, 7);
  for (const Options& o : splitkv().tiles(p, fixed, d)) EXPECT_EQ(chosen(o, kSplits), 7);
}

}  // namespace
}  // namespace attn::gpu
