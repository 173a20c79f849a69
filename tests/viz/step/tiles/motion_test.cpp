// When a step moves: after one step forwards alone, and never where the user or the system wants no motion.
#include <gtest/gtest.h>

#include "tests/viz/step/fixture.h"
#include "viz/step/tiles/tiles_scene.h"
#include "viz/step/tiles/tiles_ui_state.h"

namespace attn {
namespace {

constexpr double kTakes = 0.3;

TEST(StepMotion, OneStepForwardsMovesForItsTime) {
  TilesUiState ui;
  EXPECT_EQ(ui.motion(4, kTakes, 10.0), 1);  // the first picture stands still
  EXPECT_FALSE(ui.moving());
  EXPECT_EQ(ui.motion(5, kTakes, 10.0), 0);
  float before = 0;
  for (const double t : {10.03, 10.06, 10.1, 10.14, 10.29}) {
    const float now = ui.motion(5, kTakes, t);
    EXPECT_TRUE(ui.moving());
    EXPECT_NEAR(now, (t - 10) / kTakes, 1e-5);
    EXPECT_GT(now, before);
    before = now;
  }
  EXPECT_EQ(ui.motion(5, kTakes, 10.31), 1);
  EXPECT_FALSE(ui.moving());
  EXPECT_EQ(ui.motion(5, kTakes, 10.01), 1) << "what has come to rest stays";
}

TEST(StepMotion, TheNextStepEndsItAndBeginsItsOwn) {
  TilesUiState ui;
  (void)ui.motion(4, kTakes, 1);
  (void)ui.motion(5, kTakes, 1);
  EXPECT_GT(ui.motion(5, kTakes, 1.1), 0);
  EXPECT_EQ(ui.motion(6, kTakes, 1.12), 0);
  EXPECT_TRUE(ui.moving());
  EXPECT_EQ(ui.motion(5, kTakes, 1.2), 1) << "back stands at once";
  EXPECT_FALSE(ui.moving());
}

TEST(StepMotion, AJumpAndANewRecordingStandStill) {
  TilesUiState ui;
  (void)ui.motion(4, kTakes, 1);
  EXPECT_EQ(ui.motion(6, kTakes, 1), 1);
  (void)ui.motion(7, kTakes, 1);
  ui.follow(record_preset("blackboard", "cpu_flash"));
  EXPECT_EQ(ui.motion(8, kTakes, 1), 1);
  EXPECT_FALSE(ui.moving());
}

TEST(StepMotion, ItsSwitchEndsItAtOnce) {
  TilesUiState ui;
  (void)ui.motion(4, 0, 1);
  EXPECT_EQ(ui.motion(5, 0, 1), 1);
  EXPECT_EQ(ui.motion(6, kTakes, 2), 0);
  EXPECT_EQ(ui.motion(6, 0, 2.05), 1);
  EXPECT_EQ(ui.motion(6, kTakes, 2.06), 1);
}

// What is not drawn needs no frames: another workspace was chosen while it moved.
TEST(StepMotion, AFrameWithoutTilesMovesNothing) {
  TilesUiState ui;
  (void)ui.motion(4, kTakes, 1);
  (void)ui.motion(5, kTakes, 1);
  ui.begin_frame();
  EXPECT_FALSE(ui.moving());
  (void)ui.motion(5, kTakes, 1.1);
  EXPECT_TRUE(ui.moving());
}

TEST(StepMotion, ItTakesBetween150And400MillisecondsOrNone) {
  EXPECT_GE(motion_seconds(false, 2), 0.15);
  EXPECT_LE(motion_seconds(false, 2), 0.4);
  for (const double speed : {0.5, 1.0, 2.0, 4.0, 5.0, 8.0, 16.0, 64.0}) {
    const double takes = motion_seconds(true, speed);
    EXPECT_LT(takes, 1 / speed) << "it rests before the next step";
    EXPECT_TRUE(takes == 0 || (takes >= 0.15 && takes <= 0.4)) << speed;
  }
  EXPECT_GT(motion_seconds(true, 2), 0) << "play's own speed moves";
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
