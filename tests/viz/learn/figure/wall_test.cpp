// The memory wall against arithmetic done here, and its areas against its numbers.
#include "viz/learn/figure/wall.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace attn {
namespace {

WallGpu h100() {
  return {"NVIDIA H100 80GB HBM3", "sm_90a", 132, 32768, 8192, 2822.3, "2026-11-24T22:53:52Z"};
}

TEST(Wall, SaysWhatMemoriesHoldAndWhatStandsInBetween) {
  const WallScene scene = wall_of(h100(), 65536, 128);
  ASSERT_EQ(scene.empty, "");
  ASSERT_EQ(scene.places.size(), 4U);
  EXPECT_EQ(scene.places[0].bytes, 132.0 * 65536 * 4);
  EXPECT_EQ(scene.places[1].bytes, 132.0 * 228 * 1024);
  EXPECT_EQ(scene.places[2].bytes, 50.0 * 1024 * 1024);
  EXPECT_EQ(scene.memory().bytes, 80e9);
  EXPECT_EQ(scene.between_bytes, 16.0 * 65536 * 65536 * 2);
  EXPECT_EQ(scene.given_bytes, 16.0 * 65536 * 128 * 2);
  EXPECT_GT(scene.between_bytes, scene.memory().bytes) << "S does not fit: the question of chapter 0";
  EXPECT_EQ(memory_text(scene.between_bytes), "137 GB");
  EXPECT_EQ(memory_text(4 * scene.given_bytes), "1.1 GB");
  EXPECT_NE(scene.device.find("2026-11-24"), std::string::npos);
}

TEST(Wall, AreasAndRoadsAreToScale) {
  const WallScene scene = wall_of(h100(), 65536, 128);
  const double side = 500, whole = scene.between_bytes;
  EXPECT_DOUBLE_EQ(side_of(whole, whole, side), side);
  for (const WallPlace& place : scene.places) {
    const double drawn = side_of(place.bytes, whole, side);
    EXPECT_NEAR(drawn * drawn / (side * side), place.bytes / whole, 1e-12) << place.name;
  }
  EXPECT_EQ(WallScene::seconds(scene.places[0]), 0) << "nobody measured it: no road";
  EXPECT_NEAR(WallScene::seconds(scene.memory()), 1048576 / 2822.3e9, 1e-15);
  for (std::size_t n = 2; n < scene.places.size(); ++n)
    EXPECT_GT(WallScene::seconds(scene.places[n]), WallScene::seconds(scene.places[n - 1]));
}

TEST(Wall, SaysWhyThereIsNone) {
  WallGpu unknown = h100();
  unknown.device = "GPU of nobody";
  EXPECT_NE(wall_of(unknown, 1024, 64).empty.find("'GPU of nobody' are unknown"), std::string::npos);
  EXPECT_NE(wall_scene(Session{}, 1024, 64).empty, "");
}

}  // namespace
}  // namespace attn
