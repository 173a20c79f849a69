#include "viz/profile/occupancy/occupancy.h"

#include <gtest/gtest.h>

#include "tests/viz/profile/heartbeat/beats.h"
#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

using profile_test::h100_row;
using profile_test::put;

// NVIDIA's occupancy calculator gives one block of 8 warps for 256 threads of 254 registers and 126 KiB on compute
// capability 9.0; two fit from 128 registers and (228 - 2) / 2 = 113 KiB on.
TEST(ProfileOccupancy, NamesWhatHoldsItDownAndWhatOneMoreBlockNeeds) {
  const OccupancyScene o = occupancy_scene(h100_row("flash_simt", 59526), "sm_90a", 132);
  ASSERT_EQ(o.empty, "");
  EXPECT_EQ(o.words, "1 block of 8 warps: 8 of 64 warps, 12.5 %, limited by registers and shared memory.");
  EXPECT_EQ(o.more, "To fit 2 blocks, use at most 128 registers per thread and 113 KiB of shared memory per block.");
  EXPECT_DOUBLE_EQ(o.theoretical, 12.5);
  EXPECT_EQ(o.achieved_text, "12.5 %");
}

// ptxas counts what a block is launched with; what a consumer computes with is told beside it.
TEST(ProfileOccupancy, SaysWhoHasHowManyRegistersOnceTheyAreMoved) {
  Measurement m = h100_row("flash_hopper", 1);
  m.key.problem.dtype = DType::f16;
  m.key.options = {.br = 192, .bc = 128, .threads = 512, .stages = 4};
  EXPECT_EQ(
      occupancy_scene(m, "sm_90a", 132).registers,
      "Registers are redistributed after the start: 384 threads compute with 160 registers each, 128 copy with 32 "
      "(setmaxnreg).");
  EXPECT_EQ(occupancy_scene(h100_row("flash_simt", 1), "sm_90a", 132).registers, "");
}

TEST(ProfileOccupancy, TellsWavesAndTheTailOfTheLast) {
  // 2048 = 15 x 132 + 68.
  EXPECT_EQ(occupancy_scene(h100_row("flash_simt", 1), "sm_90a", 132).waves,
            "2048 blocks on 132 SMs, 132 at once: 15.5 waves. The last wave fills 52 % of the GPU.");
  Measurement few = h100_row("flash_simt", 1);
  few.launches[0].grid[0] = 100;
  EXPECT_EQ(occupancy_scene(few, "sm_90a", 132).waves,
            "100 blocks on 132 SMs, 132 at once: 0.758 waves. 32 slots stay empty.");
  EXPECT_EQ(occupancy_scene(few, "sm_90a", 0).waves, "") << "the number of SMs is not known";
}

TEST(ProfileOccupancy, TheNextStepOfAResourceIsWhereTheCalculatorHasIt) {
  Measurement m = h100_row("flash_simt", 1);
  m.launches[0].shared_bytes = 0;
  put(m, "registers_count", 134, Origin::compiled);
  const OccupancyScene o = occupancy_scene(m, "sm_90a", 132);
  // Registers come in eights: 134 counts as 136, 1 block; 128 gives two. Nothing changes up to 255.
  EXPECT_EQ(o.stairs[0].next, "6 fewer: 2 blocks, 16 warps.");
  EXPECT_TRUE(o.stairs[0].limits);
  EXPECT_FALSE(o.stairs[1].limits);
  put(m, "registers_count", 128, Origin::compiled);
  EXPECT_EQ(occupancy_scene(m, "sm_90a", 132).stairs[0].next,
            "48 fewer: 3 blocks, 24 warps. 1 more: 1 block, 8 warps.");
}

TEST(ProfileOccupancy, AStaircaseHasEveryValueOnceAndOnlyFalls) {
  const OccupancyScene o = occupancy_scene(h100_row("flash_simt", 1), "sm_80", 108);
  for (const Staircase& s : o.stairs) {
    ASSERT_FALSE(s.steps.empty());
    for (std::size_t i = 1; i < s.steps.size(); ++i) {
      EXPECT_GT(s.steps[i].from, s.steps[i - 1].to) << s.title;
      EXPECT_NE(s.steps[i].warps, s.steps[i - 1].warps) << s.title;
      if (&s != &o.stairs[2]) {
        EXPECT_LT(s.steps[i].warps, s.steps[i - 1].warps) << s.title;
      }
    }
  }
}

TEST(ProfileOccupancy, WhereThereIsNoneItSaysWhy) {
  Measurement m = h100_row("naive", 1);
  m.launches.resize(3);
  EXPECT_NE(occupancy_scene(m, "sm_90a", 132).empty.find("3 launches"), std::string::npos);
  EXPECT_NE(occupancy_scene(h100_row("tiled", 1), "sm_61", 28).empty.find("sm_61"), std::string::npos);
  m = h100_row("cpu_flash", 1);
  m.processor = Processor::cpu;
  EXPECT_NE(occupancy_scene(m, "", 0).empty.find("CPU"), std::string::npos);
  m = h100_row("tiled", 1);
  m.state = RowState::refused;
  m.reason = "D = 7 is odd";
  EXPECT_EQ(occupancy_scene(m, "sm_90a", 132).empty, "refused: D = 7 is odd");
}

// Each with its time and what was heard of it, since they have no occupancy in common.
TEST(ProfileOccupancy, OfAKernelOfSeveralLaunchesEachHasALine) {
  Measurement m = h100_row("naive", 300);
  m.launches.resize(3, m.launches[0]);
  m.launches[1].name = "softmax";
  m.launch_us = {100, 50, 50};
  auto lines = occupancy_scene(m, "sm_90a", 132).launches;
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "softmax: 50.0 µs, 25.0 % of the time; 2048 blocks of 256 threads.");
  m.heartbeat = std::make_shared<const Heartbeat>(profile_test::made_beats(3, "naive"));
  lines = occupancy_scene(m, "sm_90a", 132).launches;
  EXPECT_TRUE(lines[1].starts_with("naive_1: 50.0 µs, 25.0 % of the time; 2048 blocks of 256 threads; issue slots "))
      << lines[1];
  EXPECT_NE(lines[1].find("multiply-adds 40 %"), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("shared memory 5 %"), std::string::npos) << lines[1];
  Heartbeat idle = *m.heartbeat;
  for (BeatCounter& c : idle.counters)
    if (c.id == "shared") c.values.assign(idle.samples.size(), 0.1);
  m.heartbeat = std::make_shared<const Heartbeat>(idle);
  EXPECT_EQ(occupancy_scene(m, "sm_90a", 132).launches[1].find("shared memory"), std::string::npos)
      << "it kept none busy";
  m.launch_us.clear();
  EXPECT_NE(occupancy_scene(m, "sm_90a", 132).launches[2].find("100 µs, 33.3 %"), std::string::npos)
      << "the heartbeat's times where the clock could not tell them apart";
  EXPECT_TRUE(occupancy_scene(h100_row("tiled", 1), "sm_90a", 132).launches.empty());
}

}  // namespace
}  // namespace attn
