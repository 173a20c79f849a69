// Tiles on chip: the parts add up to the sum that is said, and what is held now is what the recording holds live.
#include "viz/step/beside/chip.h"

#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

TEST(Chip, PartsAddUpToTheSumThatIsSaid) {
  for (const char* kernel : kRecordingKernels) {
    const auto rec = record_preset("blackboard", kernel);
    const ChipScene scene = chip_scene(*rec, 0, "sm_90a");
    std::uint64_t sum = 0;  // the blackboard's first pass is a largest one
    for (const ChipPart& part : scene.parts) {
      EXPECT_GT(part.bytes, 0U);
      EXPECT_NE(plain_text(part.words).find(std::to_string(part.bytes)), std::string::npos) << plain_text(part.words);
      sum += part.bytes;
    }
    EXPECT_EQ(sum, scene.total) << kernel;
    EXPECT_EQ(plain_text(scene.sum), std::to_string(scene.now) + " B held now, " + std::to_string(sum) + " B at peak");
    // The share of what a block may have, for who would multiply it: 96 of 232448 bytes.
    if (scene.total == 96) {
      EXPECT_EQ(plain_text(scene.limit), "0.041 % of the 227 KiB available to a block on sm_90a");
    }
    EXPECT_NE(plain_text(scene.limit).find(" % of the 227 KiB"), std::string::npos) << plain_text(scene.limit);
    EXPECT_NE(plain_text(scene.short_limit).find(" % of 227 KiB (sm_90a)"), std::string::npos);
    EXPECT_TRUE(chip_scene(*rec, 0, "sm_of_tomorrow").limit.empty());
  }
}

// 2 x 2 tiles of fp32 with D = 2: 16 bytes each, m and l 8.
TEST(Chip, HeldNowGrowsAsTheTilesArrive) {
  const auto rec = record_preset("blackboard", "cpu_flash");
  const auto now = [&](std::int32_t j, Phase phase) {
    return chip_scene(*rec, rec->find({0, 0, 0, j, phase}).value(), "sm_90a").now;
  };
  EXPECT_EQ(now(-1, Phase::load_q), 16U + 16U + 16U);         // Q, O and m with l
  EXPECT_EQ(now(0, Phase::load_kv), 16U * 4 + 16U);           // and K, V
  EXPECT_EQ(now(0, Phase::scores), 16U * 5 + 16U);            // and S
  EXPECT_EQ(now(0, Phase::output), now(0, Phase::scores));    // P takes its place
  EXPECT_EQ(now(1, Phase::load_kv), now(0, Phase::load_kv));  // S and P are gone
}

// Of 2 x 2 tiles: S and m, l in the second pass, P, V, O in the third. A bar in which nothing lights up beside "96 B
// held now" does not add up.
TEST(Chip, APassShowsWhatItHolds) {
  const auto rec = record_preset("random", "cpu_multicore");
  std::array<std::string, 3> letters;
  for (EventIndex e = 0; e < rec->events.size(); ++e) {
    const ChipScene scene = chip_scene(*rec, e, "sm_90a");
    std::uint64_t now = 0;
    std::string shown;
    for (const ChipPart& part : scene.parts) {
      now += part.now;
      shown += plain_text(part.words).substr(0, plain_text(part.words).find(' ')) + " ";
    }
    EXPECT_EQ(now, scene.now) << "step " << e + 1;
    letters[static_cast<std::size_t>(rec->events[e].pass)] = shown;
    const bool writes = rec->events[e].id.phase == Phase::weights;
    EXPECT_EQ(plain_text(scene.note), writes ? "P replaces S" : "") << "step " << e + 1;
  }
  EXPECT_EQ(letters, (std::array<std::string, 3>{"Q K S ", "S mℓ ", "V P O "}));
}

TEST(Chip, NeverHoldsMoreThanItSaysAtMost) {
  for (const Preset& preset : presets()) {
    for (const char* kernel : kRecordingKernels) {
      if (!takes_preset(kernel, preset)) continue;
      const auto rec = record_preset(preset.id, kernel);
      std::uint64_t most = 0;
      for (EventIndex e = 0; e < rec->events.size(); ++e) {
        const ChipScene scene = chip_scene(*rec, e, "sm_90a");
        ASSERT_LE(scene.now, scene.total) << preset.id << " " << kernel << " step " << e + 1;
        most = std::max(most, scene.now);
      }
      EXPECT_GT(most, 0U);
    }
  }
}

}  // namespace
}  // namespace attn
