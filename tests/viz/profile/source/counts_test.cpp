// What was counted stands beside the lines and phases in few characters, with its formula behind it.
#include "viz/profile/source/counts.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/viz/profile/toy_counts.h"
#include "tests/viz/profile/toy_kernel.h"
#include "viz/profile/source/source.h"

namespace attn {
namespace {

using profile_test::toy_counts;

SourceScene counted_scene(const KernelCounts& counts) {
  const ListingView view = profile_test::listed(profile_test::toy_listing(), "toy");
  return source_scene(view, "toy", {}, {nullptr, &counts, ""});
}

TEST(ProfileCounts, StandBesideTheirLinesWithTheFormula) {
  const SourceScene scene = counted_scene(toy_counts());
  ASSERT_TRUE(scene.counted) << scene.why_no_counts;
  const CountCells& s = scene.rows[4].counts;
  EXPECT_EQ(s.text[0], "30.0k");
  EXPECT_EQ(s.text[1], "3.00k") << "4000 passes, of which 1000 are ideal";
  EXPECT_EQ(s.text[2], "") << "nought is an empty place";
  EXPECT_NE(s.words.find("Executed 30 000 times"), std::string::npos) << s.words;
  EXPECT_NE(s.words.find("75 % of all executions; 32 of 32 threads"), std::string::npos) << s.words;
  EXPECT_NE(s.words.find("4 000 passes through shared memory - 1 000 without conflicts = 3 000"), std::string::npos)
      << s.words;
  const CountCells& p = scene.rows[6].counts;
  EXPECT_EQ(p.text[2], "700");
  EXPECT_NE(p.words.find("800 sectors of device memory - 100 contiguous = 700"), std::string::npos) << p.words;
  EXPECT_EQ(scene.rows[1].counts.words, "") << "a comment executes nothing";
}

TEST(ProfileCounts, AreWhatF8GoesByWhereItIsChosen) {
  const SourceScene scene = counted_scene(toy_counts());
  EXPECT_EQ(next_hot(scene, 1, 1, CountColumn::executed), 5);
  EXPECT_EQ(next_hot(scene, 5, 1, CountColumn::executed), 7);
  EXPECT_EQ(next_hot(scene, 7, 1, CountColumn::sectors), 7) << "the only one";
  EXPECT_EQ(scene.most_counted[1], (std::vector<std::int32_t>{5}));
}

TEST(ProfileCounts, StandBesideThePhases) {
  const SourceScene scene = counted_scene(toy_counts());
  for (const PhaseRow& row : scene.phases) {
    if (row.phase == gpu::CodePhase::s) {
      EXPECT_EQ(row.counts.text[0], "30.0k");
      EXPECT_EQ(row.counts.text[1], "75.0");
      EXPECT_EQ(row.counts.text[4], "3.00k");
    }
    if (row.phase == gpu::CodePhase::p) {
      EXPECT_EQ(row.counts.text[2], "16.0") << "threads of a warp";
      EXPECT_EQ(row.counts.text[6], "700");
    }
  }
}

TEST(ProfileCounts, ThePhasesNeedNoMachineCode) {
  gpu::KernelListing without = profile_test::toy_listing();
  without.why_no_sass = "nvdisasm was not found";
  without.by_phase = {};
  const KernelCounts counts = toy_counts();
  const SourceScene scene = source_scene(profile_test::listed(without, "toy"), "toy", {}, {nullptr, &counts, ""});
  ASSERT_EQ(scene.phases.size(), 2U);
  EXPECT_EQ(scene.phases[0].phase, gpu::CodePhase::s);
  EXPECT_EQ(scene.phases[0].counts.text[0], "30.0k");
  EXPECT_EQ(scene.phases[0].line, 5);
  EXPECT_EQ(scene.phases[1].line, 7);
}

TEST(ProfileCounts, WhatTheChipDoesNotCountSaysSo) {
  KernelCounts c = toy_counts();
  c.metrics.at(static_cast<std::size_t>(InstructionCounter::shared_ideal)).clear();
  const SourceScene scene = counted_scene(c);
  EXPECT_EQ(scene.rows[4].counts.text[1], "–");
  EXPECT_NE(scene.count_heads[1].tip.find("GX999 does not count this metric"), std::string::npos)
      << scene.count_heads[1].tip;
  EXPECT_EQ(scene.count_heads[0].tip.find("does not count this"), std::string::npos);
}

TEST(ProfileCounts, OfAnotherTextOrWithoutLinesAreNotPutBesideTheseLines) {
  KernelCounts c = toy_counts();
  c.text_hash = "another";
  EXPECT_FALSE(counted_scene(c).counted);
  EXPECT_NE(counted_scene(c).why_no_counts.find("another version"), std::string::npos);
  c = toy_counts();
  c.no_lines = "nvdisasm was not found";
  EXPECT_EQ(counted_scene(c).why_no_counts, "nvdisasm was not found");
  const ListingView view = profile_test::listed(profile_test::toy_listing(), "toy");
  EXPECT_EQ(source_scene(view, "toy", {}, {nullptr, nullptr, "refused"}).why_no_counts, "refused");
}

// Where they would leave the text too little room, a column that holds nothing goes first.
TEST(ProfileCounts, InANarrowCardTheColumnsThatHoldNothingGoFirstAndThenAllButOne) {
  using enum CountColumn;
  const std::vector<CountColumn> all{executed, conflicts, sectors};
  EXPECT_EQ(columns_shown(3, {true, false, false}, {}).shown, all) << "a nought is worth its room where there is some";
  EXPECT_EQ(columns_shown(2, {true, false, true}, {}).shown, (std::vector<CountColumn>{executed, sectors}));
  EXPECT_FALSE(columns_shown(2, {true, false, true}, {}).one_by_one);
  EXPECT_EQ(columns_shown(0, {true, false, false}, {}).shown, std::vector<CountColumn>{executed});
  const CountColumns one = columns_shown(1, {true, true, false}, {});
  EXPECT_EQ(one.shown, std::vector<CountColumn>{executed});
  EXPECT_TRUE(one.one_by_one);
  EXPECT_EQ(columns_shown(1, {true, true, true}, sectors).shown, std::vector<CountColumn>{sectors});
  EXPECT_EQ(columns_shown(2, {true, true, true}, conflicts).shown, std::vector<CountColumn>{conflicts});
  EXPECT_TRUE(columns_shown(2, {false, false, false}, {}).shown.empty());
}

TEST(ProfileCounts, OneHeadGoesThroughAllColumnsAndBackToNone) {
  std::vector<std::optional<CountColumn>> seen;
  std::optional<CountColumn> by;
  for (int n = 0; n < 4; ++n) seen.push_back(by = column_after(by));
  EXPECT_EQ(seen, (std::vector<std::optional<CountColumn>>{CountColumn::executed, CountColumn::conflicts,
                                                           CountColumn::sectors, std::nullopt}));
}

}  // namespace
}  // namespace attn
