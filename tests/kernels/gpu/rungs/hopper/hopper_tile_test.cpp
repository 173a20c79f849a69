// The tile that flash_hopper takes by itself: what it chooses for which problem and step, what it says of it, what it
// refuses, and what tuning tries.
#include "kernels/gpu/rungs/hopper/hopper_tile.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/common.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/ladder.h"

namespace attn::gpu {
namespace {

constexpr std::int32_t kSms = 132;

const KernelRow& hopper() {
  return **find_kernel("flash_hopper");
}

Device h100() {
  Device d = *device_for("sm_90a");
  d.cores = kSms;
  return d;
}

// The benchmark's: 16 heads, 16384 tokens in all.
Problem problem(std::int64_t L, std::int64_t D, bool causal = false) {
  Problem p;
  p.B = 16384 / L;
  p.Hq = p.Hkv = 16;
  p.Lq = p.Lk = L;
  p.D = p.Dv = D;
  p.dtype = DType::f16;
  p.mask.causal = causal;
  return p;
}

Options at_step(std::int32_t step) {
  Options o;
  choose(o, kHopperStep, step);
  return o;
}

Options copying(std::int64_t which) {
  Options o;
  choose(o, kHopperCopies, which);
  return o;
}

Plan planned(const Problem& p, const Options& o = {}) {
  const auto plan = hopper().plan(hopper(), p, o, h100());
  EXPECT_TRUE(plan) << plan.error().message;
  return plan.value_or(Plan{});
}

std::string refusal(const Problem& p, const Options& o, std::string_view arch = "sm_90a") {
  const auto takes = hopper().supports(hopper(), p, o, *device_for(arch));
  return takes ? "taken" : takes.error().message;
}

TEST(HopperTile, HasAsManyConsumersAsRegistersAllow) {
  EXPECT_EQ(hopper_tile(problem(4096, 64), {}).consumers, 4);
  EXPECT_EQ(hopper_tile(problem(4096, 128), {}).consumers, 3);
  EXPECT_EQ(hopper_tile(problem(4096, 256), {}).consumers, 2);
  Problem biased = problem(4096, 64);
  biased.bias_shape = {1, 1, 4096, 4096};
  EXPECT_EQ(hopper_tile(biased, {}).consumers, 2);
}

TEST(HopperTile, OverlapsWithinWhereOFillsTheRegisters) {
  for (const std::int64_t L : {1024, 16384}) {
    EXPECT_EQ(hopper_tile(problem(L, 128), {}).form, 5);
    EXPECT_EQ(hopper_tile(problem(L, 192), {}).form, 4);
    EXPECT_EQ(hopper_tile(problem(L, 256, true), {}).form, 4);
  }
}

TEST(HopperTile, TakesHalfStepsWhereAMaskHasAnEdgeAndThereAreFewKeyTiles) {
  EXPECT_EQ(hopper_tile(problem(1024, 128), {}).half, 0) << "without an edge it is code for nothing";
  EXPECT_EQ(hopper_tile(problem(1024, 128, true), {}).half, 64);
  EXPECT_EQ(hopper_tile(problem(16384, 128, true), {}).half, 0) << "one in 64 key tiles";
  Problem window = problem(8192, 64);
  window.mask.window_left = 300;
  window.mask.window_right = 0;
  EXPECT_EQ(hopper_tile(window, {}).half, 48);
}

TEST(HopperTile, FetchesQEarlyWhereSeamsShow) {
  EXPECT_EQ(hopper_tile(problem(1024, 128), {}).queries, 2);
  EXPECT_EQ(hopper_tile(problem(16384, 128), {}).queries, 1);
  EXPECT_EQ(hopper_tile(problem(4096, 128), {}).queries, 2);
  EXPECT_EQ(hopper_tile(problem(4096, 128, true), {}).queries, 1) << "under a mask consumers run apart";
  EXPECT_EQ(hopper_tile(problem(16384, 64), {}).queries, 2) << "its room is not missed";
}

TEST(HopperTile, HandsOsRowsBackLateWithoutAMask) {
  EXPECT_TRUE(hopper_tile(problem(1024, 128), {}).late);
  EXPECT_FALSE(hopper_tile(problem(1024, 128, true), {}).late);
  EXPECT_FALSE(hopper_tile(problem(1024, 64), {}).late) << "four consumers";
  EXPECT_FALSE(hopper_tile(problem(16384, 128), {}).late) << "one buffer of Q";
  EXPECT_FALSE(hopper_tile(problem(1024, 128), at_step(9)).late);
  Options o;
  choose(o, kHopperLate, 1);
  EXPECT_EQ(refusal(problem(16384, 128), o),
            "flash_hopper can release O's rows late only in form 5 with two Q buffers.");
}

TEST(HopperTile, OverlappingConsumersAreTwoOrThreeAndTakeTurns) {
  EXPECT_TRUE(hopper_tile(problem(1024, 256), {}).turns);
  EXPECT_FALSE(hopper_tile(problem(1024, 128), {}).turns) << "there they cover each other";
  Options o;
  choose(o, kHopperForm, 4);
  choose(o, kHopperTurns, 0);
  EXPECT_FALSE(hopper_tile(problem(1024, 64), o).turns);
  o.br = 192;
  EXPECT_EQ(hopper_tile(problem(1024, 64), o).consumers, 3);
  EXPECT_EQ(refusal(problem(1024, 64), o), "taken");
  o.br = 256;
  EXPECT_EQ(refusal(problem(1024, 64), o),
            "flash_hopper in form 4 needs 128 or 192 query rows and an even number of stages.");
}

TEST(HopperTile, SharesRowsOutSoThatTheLastWaveIsFull) {
  // 256 heads of 16 pieces: 6 tiles, four of them of three pieces, make 11.6 waves; the 64 of L = 4096 go by 22.
  const Problem p = problem(1024, 128);
  EXPECT_EQ(query_tiles(p, hopper_tile(p, {}), kSms), 6);
  const Problem q = problem(4096, 128);
  EXPECT_EQ(query_tiles(q, hopper_tile(q, {}), kSms), 22);
  // One head, less than a wave of tiles: smaller ones, for all multiprocessors.
  Problem one = problem(16384, 128);
  one.Hq = one.Hkv = 1;
  EXPECT_EQ(query_tiles(one, hopper_tile(one, {}), kSms), 128);
  // Every piece is in one tile.
  for (const std::int64_t L : {64, 65, 1000, 3000, 12288}) {
    Problem any = problem(1024, 128);
    any.Lq = any.Lk = L;
    const HopperTile t = hopper_tile(any, {});
    const std::int64_t n = query_tiles(any, t, kSms), pieces = (L + 63) / 64;
    EXPECT_GE(n * t.consumers, pieces) << L;
    EXPECT_LE(n, pieces) << L;
  }
}

TEST(HopperTile, PacksHeadsThatShareKeysWhereAloneTheyLeaveRowsEmpty) {
  Problem p = problem(1024, 128);
  p.Hkv = 2;
  EXPECT_EQ(hopper_tile(p, {}).pack, 1);
  p.Lq = 3;
  EXPECT_EQ(hopper_tile(p, {}).pack, 8);
  const std::string words = words_of(p, hopper_tile(p, {}), kSms);
  EXPECT_NE(words.find("8 heads packed because one head would fill only 5 % of a tile's rows"), std::string::npos)
      << words;
}

TEST(HopperTile, SaysWhy) {
  const Problem p = problem(1024, 128, true);
  EXPECT_EQ(
      hopper().reason(p, planned(p).options, h100()),
      "11.6 waves: rows shared out as 192 to 128; 3 consumers that overlap each other; 128 keys per tile, 4 slots; two "
      "Q buffers: 4 key tiles per query tile; P V of 64 keys first; half steps of 64 keys at the mask's edge");
  const Problem q = problem(4096, 256);
  EXPECT_EQ(hopper().reason(q, planned(q).options, h100()),
            "15.5 waves of 128 rows per tile; 2 consumers that overlap their own work; 80 keys per tile, 4 slots");
  Problem few = problem(16384, 64);
  few.Lq = 60;
  EXPECT_NE(hopper().reason(few, planned(few).options, h100()).find("16 query tiles for 132 multiprocessors"),
            std::string::npos);
  const std::string guessed = "; exponentials before the maximum, S computed in turns";
  EXPECT_NE(hopper().reason(few, planned(few).options, h100()).find(guessed), std::string::npos);
  EXPECT_EQ(hopper().reason(few, planned(few, at_step(10)).options, h100()).find(guessed), std::string::npos);
}

// Each step has the ideas of those before it, but for turns (3) and the overlap within (4), which 5 takes the place of.
TEST(HopperTile, StepsBringOneIdeaEach) {
  const Problem p = problem(4096, 128, true);
  const auto at = [&](std::int32_t step) { return hopper_tile(p, at_step(step)); };
  EXPECT_EQ(at(1).consumers, 1);
  EXPECT_EQ(at(1).slots, 2) << "a place for K, one for V";
  EXPECT_EQ(at(2).consumers, 2);
  EXPECT_EQ(at(2).slots, 4);
  EXPECT_EQ(at(3).consumers, 2);
  EXPECT_EQ(at(3).form, 5);
  EXPECT_EQ(at(4).form, 4);
  EXPECT_EQ(at(5).consumers, 3);
  EXPECT_EQ(at(5).split, 0);
  EXPECT_EQ(at(6).split, 4);
  EXPECT_EQ(planned(p, at_step(6)).launches[0].grid[0], 22 * 64) << "a block a tile";
  EXPECT_EQ(planned(p, at_step(7)).launches[0].grid[0], kSms) << "blocks that stay";
  const Problem shorter = problem(1024, 128, true);
  EXPECT_EQ(hopper_tile(shorter, at_step(8)).half, 0);
  EXPECT_EQ(hopper_tile(shorter, at_step(9)).half, 64);
  EXPECT_EQ(planned(p).options, planned(p, at_step(kLastStep)).options) << "the last is what ships";
  // What evening changes: 512 pieces of 16 heads in 171 tiles of three, or in as many as end together.
  Problem odd = problem(16384, 128);
  odd.Lq = odd.Lk = 32768;
  EXPECT_EQ(query_tiles(odd, hopper_tile(odd, at_step(7)), kSms), 171);
}

TEST(HopperTile, EveryStepOfEveryWidthIsTaken) {
  for (const std::int64_t D : {1, 8, 40, 59, 64, 96, 111, 128, 160, 192, 250, 256}) {
    for (std::int32_t step = 1; step <= kLastStep; ++step) {
      for (const bool causal : {false, true})
        EXPECT_EQ(refusal(problem(1024, D, causal), at_step(step)), "taken") << D << " at step " << step;
    }
  }
}

TEST(HopperTile, WhatIsAskedForStaysAndTheRestGoesWithIt) {
  const Problem p = problem(4096, 128);
  Options o;
  o.br = 128;
  Plan plan = planned(p, o);
  EXPECT_EQ(plan.options.br, 128);
  EXPECT_EQ(plan.options.threads, 384);
  EXPECT_EQ(chosen(plan.options, kHopperForm), 5);
  o = {};
  choose(o, kHopperForm, 4);
  plan = planned(p, o);
  EXPECT_EQ(plan.options.br, 128) << "two consumers overlap within";
  EXPECT_EQ(plan.options.stages % 2, 0);
  o = {};
  o.stages = 5;
  EXPECT_EQ(chosen(planned(p, o).options, kHopperQueries), 1) << "five slots leave no room for two buffers";
}

TEST(HopperTile, RefusesInWords) {
  const Problem p = problem(4096, 128);
  EXPECT_EQ(refusal(p, {}, "sm_80"),
            "flash_hopper runs on sm_90a, not on sm_80: wgmma and the tensor maps that it needs exist only on Hopper; "
            "on other GPUs, use flash_mma for f16 and bf16");
  EXPECT_EQ(refusal(problem(4096, 59), copying(0)),
            "flash_hopper reads only tensors with rows aligned to 16 bytes. With D = 59 and Dv = 59, some tensors have "
            "unaligned rows; set copies = 1 to copy those tensors.");
  Options o = at_step(3);
  o.br = 192;
  EXPECT_EQ(refusal(p, o),
            "flash_hopper with step = 3 has two consumers that take turns, so it needs 128 query rows, not 192.");
  o = {};
  o.bc = 256;
  EXPECT_EQ(refusal(p, o),
            "flash_hopper at 192 x 256 with form 5 and Dv = 128 needs 224 registers per thread for S, P and O. "
            "With 3 consumers, the limit is 160. Use fewer keys or rows.");
  o = {};
  o.stages = 8;
  EXPECT_NE(refusal(p, o).find("bytes of shared memory, but sm_90a has 232448. Use fewer stages or Q buffers."),
            std::string::npos)
      << refusal(p, o);
}

// A chain of launches, and room for the copies: what no tensor map can be made of, or all that is asked for.
TEST(HopperTile, CopiesWhatHasRowsThatBeginBetween16Bytes) {
  const auto names = [](const Plan& plan) {
    std::vector<std::string> all;
    for (const Launch& l : plan.launches) all.push_back(l.name);
    return all;
  };
  using Names = std::vector<std::string>;
  const std::uint64_t none = planned(problem(4096, 64)).workspace_bytes;
  EXPECT_EQ(names(planned(problem(4096, 64))), (Names{"flash_hopper"}));

  Problem p = problem(1000, 59);
  Plan plan = planned(p);
  EXPECT_EQ(names(plan), (Names{"hopper_copy_in", "flash_hopper", "hopper_copy_out"}));
  EXPECT_EQ(plan.launches[0].grid[0], p.B * p.Hq * 16) << "64 rows a block";
  EXPECT_EQ(plan.launches[0].grid[1], 3) << "Q, K and V";
  EXPECT_EQ(plan.launches[2].grid[1], 1);
  EXPECT_EQ(plan.workspace_bytes, none + 4 * 2 * static_cast<std::uint64_t>(p.B * p.Hq * 1000 * 64));
  EXPECT_NE(hopper().reason(p, plan.options, h100()).find("; copies of Q, K, V, O with rows aligned to 16 bytes, "),
            std::string::npos);

  p.D = 64;  // V and O alone
  plan = planned(p);
  EXPECT_EQ(names(plan), (Names{"hopper_copy_in", "flash_hopper", "hopper_copy_out"}));
  EXPECT_EQ(plan.launches[0].grid[1], 1);
  p.D = 60, p.Dv = 64;
  EXPECT_EQ(names(planned(p)), (Names{"hopper_copy_in", "flash_hopper"}));
  EXPECT_EQ(names(planned(problem(4096, 64), copying(1))), (Names{"flash_hopper"})) << "nothing needs one";
  plan = planned(problem(4096, 64), copying(2));
  EXPECT_EQ(names(plan), (Names{"hopper_copy_in", "flash_hopper", "hopper_copy_out"}));
  EXPECT_EQ(plan.launches[0].grid[1], 3);

  Problem views = problem(1000, 4);  // [B, L, H, D]: rows are 16 x 4 elements apart, heads 4
  views.layout = AxisOrder::blhd;
  EXPECT_EQ(planned(views).launches.size(), 3U);
}

TEST(HopperTile, AWindowIsCodeOfItsOwn) {
  const auto has = [](const Problem& p, const char* define) {
    const auto defines = defines_of(planned(p), true);
    return std::ranges::find(defines, define) != defines.end();
  };
  Problem p = problem(4096, 128, true);
  EXPECT_TRUE(has(p, "ATTN_CUT_BEFORE=0"));
  p.mask.window_left = 7;
  EXPECT_TRUE(has(p, "ATTN_CUT_BEFORE=1"));
}

TEST(HopperTile, OptionsAreDefinesOfItsOwn) {
  const auto defines = defines_of(planned(problem(4096, 128), at_step(5)), true);
  for (const char* define :
       {"ATTN_STEP=5", "ATTN_FORM=5", "ATTN_QUERIES=1", "ATTN_SPLIT=0", "ATTN_HALF=0", "ATTN_PACK=1"})
    EXPECT_NE(std::ranges::find(defines, define), defines.end()) << define;
}

// O in fp32 leaves without a tensor map: whatever its rows begin on, it needs no copy.
TEST(HopperTile, SumsLeaveWithoutACopy) {
  Problem p = problem(4096, 64);
  p.Dv = 60;
  ASSERT_EQ(planned(p).launches.size(), 3U);
  EXPECT_EQ(planned(p).launches[2].name, "hopper_copy_out");
  p.output = OutputType::f32;
  EXPECT_EQ(planned(p).launches.size(), 2U) << "V alone";
  EXPECT_EQ(hopper().defines(p).back(), "ATTN_SUMS_LEAVE=1");
  p.Dv = 64;
  EXPECT_EQ(planned(p).launches.size(), 1U);
  p.output = OutputType::as_inputs;
  EXPECT_EQ(std::ranges::count(hopper().defines(p), "ATTN_SUMS_LEAVE=1"), 0) << "its code is what it was";
}

}  // namespace
}  // namespace attn::gpu
