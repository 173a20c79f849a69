// Tiles on chip: the parts add up to the sum that is said.
#include "viz/step/tiles/chip.h"

#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

TEST(Chip, PartsAddUpToTheSumThatIsSaid) {
  for (const char* kernel : kRecordingKernels) {
    const ChipScene scene = chip_scene(*record_preset("blackboard", kernel));
    std::uint64_t sum = 0;
    for (const ChipPart& part : scene.parts) {
      EXPECT_GT(part.bytes, 0U);
      EXPECT_NE(plain_text(part.words).find(std::to_string(part.bytes)), std::string::npos) << plain_text(part.words);
      sum += part.bytes;
    }
    EXPECT_EQ(sum, scene.total) << kernel;
    EXPECT_EQ(plain_text(scene.sum), std::to_string(sum) + " B of SRAM and registers");
  }
}

}  // namespace
}  // namespace attn
