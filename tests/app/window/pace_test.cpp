#include "app/window/pace.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace attn {
namespace {

// Draws each frame that is due until `end`, beginning now at `from`; a frame takes `cost`, and its picture differs
// where `differs` says so.
template <class Differs>
int count_frames(Pace& pace, double from, double end, double cost, const Differs& differs) {
  int frames = 0;
  while (pace.next() <= end) {
    const double now = std::max(pace.next(), from);
    pace.drawn(now, now + cost, differs(now));
    ++frames;
  }
  return frames;
}
constexpr auto kSame = [](double) { return false; };

TEST(Pace, NothingIsDrawnWhileNothingChanges) {
  Pace pace(60);
  EXPECT_LE(count_frames(pace, 0, 1, 0.002, kSame), 4);
  EXPECT_EQ(pace.next(), Pace::kNever);
  EXPECT_EQ(count_frames(pace, 1, 1e6, 0.002, kSame), 0);
}

TEST(Pace, AnInputIsDrawnAtOnceAndSettlesInAFewFrames) {
  Pace pace(60);
  count_frames(pace, 0, 1, 0.002, kSame);
  pace.input();
  EXPECT_LE(pace.next(), 1);
  EXPECT_EQ(count_frames(pace, 1, 10, 0.002, kSame), 3);
}

TEST(Pace, NeverFasterThanTheDisplayShows) {
  Pace pace(60);
  count_frames(pace, 0, 1, 0.001, kSame);
  int frames = 0;
  for (double now = 1; now < 2; now += 0.0005) {
    pace.input();
    if (pace.next() > now) continue;
    pace.drawn(now, now + 0.001, true);
    ++frames;
  }
  EXPECT_LE(frames, 64);
  EXPECT_GE(frames, 55);
}

TEST(Pace, WhatMovesGoesOnUntilItRests) {
  Pace pace(60);
  count_frames(pace, 0, 1, 0.002, kSame);
  pace.news(false);
  const int frames = count_frames(pace, 1, 9, 0.002, [](double now) { return now < 1.15; });
  EXPECT_GE(frames, 8);
  EXPECT_LE(frames, 14);
  EXPECT_EQ(pace.next(), Pace::kNever);
}

TEST(Pace, WhatMovesLeavesHalfOfASlowMachine) {
  Pace pace(60);
  count_frames(pace, 0, 1, 0.1, kSame);
  pace.news(false);
  EXPECT_LE(count_frames(pace, 1, 2, 0.1, [](double) { return true; }), 6);
  pace.input();  // but the user is not kept waiting
  EXPECT_LE(pace.next(), 2.1);
}

TEST(Pace, NewsOfTasksShowTenTimesASecond) {
  Pace pace(60);
  count_frames(pace, 0, 1, 0.002, kSame);
  int frames = 0;
  for (double now = 1; now < 3; now += 0.001) {
    pace.news(true);
    if (pace.next() > now) continue;
    pace.drawn(now, now + 0.002, false);
    ++frames;
  }
  EXPECT_LE(frames, 21);
  EXPECT_GE(frames, 18);
}

TEST(Pace, WakesWhenSomethingMovesByItself) {
  Pace pace(60);
  count_frames(pace, 0, 1, 0.002, kSame);
  pace.at(5);
  EXPECT_EQ(pace.next(), 5);
  pace.at(7);
  EXPECT_EQ(pace.next(), 5);
  pace.drawn(5, 5.002, true);
  EXPECT_LT(pace.next(), 5.1);
}

TEST(Pace, ADisplayThatSaysNoRateIsTakenForSixty) {
  for (const double rate : {0.0, -1.0, 1e9}) {
    Pace pace(rate);
    pace.drawn(0, 0.001, true);
    EXPECT_NEAR(pace.next(), 1.0 / 60, 0.002) << rate;
  }
}

// Where a frame takes long, as a software renderer's does, what moves has fewer of them.
TEST(Pace, MotionTakesAFifthOfACoreAtMost) {
  for (const double cost : {0.0005, 0.002, 0.005, 0.03, 0.2}) {
    Pace pace(60);
    count_frames(pace, 0, 1, 0.001, kSame);
    pace.news(false);
    double used = 0;
    int frames = 0;
    for (double now = std::max(pace.next(), 1.0); now < 11; now = pace.next()) {
      pace.drawn(now, now + cost, true);
      pace.moving(now, cost);
      used += cost;
      ++frames;
    }
    EXPECT_LE(used, 0.2 * 10 + cost) << cost;
    EXPECT_GE(frames, std::min(590.0, 1.5 / cost)) << cost;
  }
}

}  // namespace
}  // namespace attn
