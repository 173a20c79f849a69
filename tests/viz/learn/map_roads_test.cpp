// Roads of the map run from edge to edge, with a head, around whatever stands between.
#include "viz/learn/map_roads.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attn {
namespace {

float apart(RoadPoint a, RoadPoint b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

bool inside(const LabelBox& box, RoadPoint p) {
  return p.x > box.left && p.x < box.right && p.y > box.top && p.y < box.bottom;
}

RoadGround three_in_a_line() {
  RoadGround ground;
  ground.stops = {{{100, 200}, 30}, {{300, 200}, 30}, {{500, 200}, 30}};
  ground.inside = {0, 0, 600, 400};
  return ground;
}

TEST(MapRoads, WithNothingBetweenARoadIsStraight) {
  const RoadPath path = road_path(three_in_a_line(), {0, 1});
  EXPECT_NEAR(path.p0.x, 130, 1e-3);
  EXPECT_NEAR(path.p0.y, 200, 1e-3);
  EXPECT_NEAR(path.at(0.5F).y, 200, 1e-3);
  EXPECT_LT(path.p1.x, 270);
  EXPECT_NEAR(apart(path.p1, path.head_left), apart(path.p1, path.head_right), 1e-3);
  EXPECT_LT(path.head_left.x, path.p1.x) << "the tip is at the stop";
}

TEST(MapRoads, ARoadGoesAroundAThirdStopAndTheWordsUnderIt) {
  RoadGround ground = three_in_a_line();
  ground.words = {{240, 235, 360, 275}};
  const RoadPath path = road_path(ground, {0, 2});
  for (int n = 0; n <= 200; ++n) {
    const RoadPoint p = path.at(static_cast<float>(n) / 200);
    EXPECT_GT(apart(p, ground.stops[1].centre), 30) << n;
    EXPECT_FALSE(inside(ground.words.front(), p)) << n;
  }
  EXPECT_NEAR(apart(path.p0, ground.stops[0].centre), 30, 1e-2);
  const float gap = apart(path.p1, ground.stops[2].centre) - 30;
  EXPECT_GE(gap, 0);
  EXPECT_LT(gap, 5);
}

// A name under the stop lies where the straight way would arrive: the head is not under it.
TEST(MapRoads, AHeadIsNeverUnderTheNameOfItsStop) {
  RoadGround ground;
  ground.stops = {{{300, 350}, 30}, {{300, 80}, 30}};
  ground.words = {{220, 80, 380, 160}};
  ground.inside = {0, 0, 600, 400};
  const RoadPath path = road_path(ground, {0, 1});
  for (const RoadPoint p : {path.p1, path.head_left, path.head_right}) EXPECT_FALSE(inside(ground.words.front(), p));
  EXPECT_LT(apart(path.p1, ground.stops[1].centre), 36);
}

TEST(MapRoads, PathsAreFoundAnewOnAnotherGroundAlone) {
  MapRoads roads;
  RoadGround ground = three_in_a_line();
  ground.roads = {{0, 1}};
  roads.follow(ground);
  ASSERT_EQ(roads.paths.size(), 1U);
  const float first = roads.paths.front().p1.x;
  ground.stops[1].centre.x = 330;
  roads.follow(ground);
  EXPECT_NEAR(roads.paths.front().p1.x, first + 30, 1e-3);
}

}  // namespace
}  // namespace attn
