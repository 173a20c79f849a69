// What a step made comes in for a moment: after one step forwards alone, and never where the user wants no motion.
#include <gtest/gtest.h>

#include "tests/viz/step/fixture.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {
namespace {

TEST(StepMotion, OneStepForwardsComesInWithinTwoTenthsOfASecond) {
  TilesUiState ui;
  EXPECT_EQ(ui.arrival(4, true, 10.0), 1);  // the first picture stands still
  EXPECT_EQ(ui.arrival(5, true, 10.0), 0);
  float before = 0;
  for (const double t : {10.03, 10.06, 10.1, 10.14}) {
    const float now = ui.arrival(5, true, t);
    EXPECT_GT(now, before);
    EXPECT_LT(now, 1);
    before = now;
  }
  EXPECT_EQ(ui.arrival(5, true, 10.18), 1);
  EXPECT_EQ(ui.arrival(5, true, 10.01), 1) << "what has come to rest stays";
}

TEST(StepMotion, AJumpAStepBackAndANewRecordingStandStill) {
  TilesUiState ui;
  (void)ui.arrival(4, true, 1);
  EXPECT_EQ(ui.arrival(6, true, 1), 1);
  EXPECT_EQ(ui.arrival(5, true, 1), 1);
  (void)ui.arrival(6, true, 1);
  ui.follow(record_preset("blackboard", "cpu_flash"));
  EXPECT_EQ(ui.arrival(7, true, 1), 1);
}

TEST(StepMotion, ReducedMotionStandsStill) {
  TilesUiState ui;
  (void)ui.arrival(4, false, 1);
  EXPECT_EQ(ui.arrival(5, false, 1), 1);
  // Asked for in the middle: it ends at once.
  EXPECT_EQ(ui.arrival(6, true, 2), 0);
  EXPECT_EQ(ui.arrival(6, false, 2.05), 1);
  EXPECT_EQ(ui.arrival(6, true, 2.06), 1);
}

TEST(AskedCell, ANumberTooLongForItsCellIsRoundedWhileNobodyTypesInIt) {
  EXPECT_EQ(at_rest("0.132575742", 12), "0.132575742");
  EXPECT_EQ(at_rest("0.132575742", 7), "0.13258");
  EXPECT_EQ(at_rest("-0.132575742", 5), "−0.13");
  EXPECT_EQ(at_rest("e^-1.5 / 3", 5), "e^-1.5 / 3");  // the learner's own words stay
  EXPECT_EQ(at_rest("", 5), "");
}

}  // namespace
}  // namespace attn
