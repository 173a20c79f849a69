// What a figure shows while its question is open: the picture, without what it says of the kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "viz/learn/figure/figure.h"

namespace attn {
namespace {

StageFigure figure_for(FigureKind kind) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100.attn");
  EXPECT_TRUE(session) << session.error().message;
  if (!session) return {};
  return figure_of(*session, {kind, 16384, 128, "flash_simt", WallPart::roads});
}

TEST(WaitingFigure, ARooflineKeepsItsRoofsAndTheOtherKernels) {
  const StageFigure told = figure_for(FigureKind::roofline), waits = without_shares(told);
  ASSERT_NE(told.scenes, nullptr);
  const auto is_chosen = [](const StageFigure& f) {
    return std::ranges::any_of(f.scenes->roof.dots, &RoofDot::chosen);
  };
  EXPECT_TRUE(is_chosen(told));
  EXPECT_FALSE(is_chosen(waits));
  EXPECT_EQ(waits.scenes->roof.dots.size() + 1, told.scenes->roof.dots.size());
  EXPECT_EQ(waits.scenes->roof.copy_gb_per_s, told.scenes->roof.copy_gb_per_s);
  EXPECT_EQ(waits.scenes->roof.empty, "");
  EXPECT_EQ(waits.scenes->roof.note.find("The mark for flash_simt at L = 16384, D = 128 appears after"), 0U);
}

TEST(WaitingFigure, OccupancyShowsTheStairsAndNotWhereTheKernelStands) {
  const StageFigure told = figure_for(FigureKind::occupancy), waits = without_shares(told);
  ASSERT_EQ(told.scenes->occupancy.empty, "");
  EXPECT_GT(told.scenes->occupancy.theoretical, 0);
  const OccupancyScene& o = waits.scenes->occupancy;
  EXPECT_EQ(o.empty, "");
  EXPECT_EQ(o.theoretical, 0);
  EXPECT_FALSE(o.achieved);
  EXPECT_TRUE(o.more.empty() && o.waves.empty() && o.registers.empty());
  for (const Staircase& stair : o.stairs) {
    EXPECT_FALSE(stair.steps.empty());
    EXPECT_LT(stair.here, 0) << stair.title;
    EXPECT_TRUE(stair.here_text.empty() && stair.next.empty() && !stair.limits) << stair.title;
  }
}

}  // namespace
}  // namespace attn
