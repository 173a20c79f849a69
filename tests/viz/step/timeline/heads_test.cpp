// The small multiples are the recorded scores of each head.
#include "viz/step/timeline/heads.h"

#include <cmath>

#include "tests/viz/step/fixture.h"
#include "viz/step/step_cache.h"

namespace attn {
namespace {

TEST(Heads, PicturesAreTheScoresOfEachHead) {
  for (const char* kernel : kRecordingKernels) {
    const auto rec = record_preset("heads", kernel);
    const TensorScale scale = scales_of(*rec)[static_cast<std::size_t>(TensorColour::s)];
    const HeadsScene scene = heads_scene(*rec, scale);
    ASSERT_EQ(scene.pictures.size(), 8U);
    ASSERT_EQ(scene.rows, 8);
    for (const HeadPicture& picture : scene.pictures) {
      EXPECT_EQ(picture.kv, picture.h / 2);
      for (std::int32_t r = 0; r < 8; ++r) {
        for (std::int32_t c = 0; c < 8; ++c) {
          const auto e = rec->find({picture.b, picture.h, r / 4, c / 4, Phase::scores});
          ASSERT_TRUE(e.has_value());
          const float shade = scale.shade(*live_value(*rec, *e, Slot::s, r, c));
          EXPECT_EQ(picture.shades[static_cast<std::size_t>(r * 8 + c)], shade);
        }
      }
    }
  }
}

TEST(Heads, MaskedKeysHaveNoShadeAndOneHeadNoPicture) {
  const auto rec = record_preset("padded", "cpu_flash");  // two batches of 12 and 0 keys
  const HeadsScene scene = heads_scene(*rec, scales_of(*rec)[static_cast<std::size_t>(TensorColour::s)]);
  ASSERT_EQ(scene.pictures.size(), 2U);
  for (const float shade : scene.pictures[1].shades) EXPECT_TRUE(std::isnan(shade));
  EXPECT_FALSE(std::isnan(scene.pictures[0].shades[0]));
  const auto one = record_preset("blackboard", "cpu_flash");
  EXPECT_TRUE(heads_scene(*one, {}).pictures.empty());
}

}  // namespace
}  // namespace attn
