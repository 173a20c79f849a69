// The map counts the tiles of the live head, and a click goes to one of them.
#include "viz/step/timeline/map.h"

#include <algorithm>
#include <string>

#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

TEST(Map, TheCountsAndTheWordsCoverEveryTile) {
  for (const char* kernel : kRecordingKernels) {
    const auto rec = record_preset("causal", kernel);
    for (EventIndex e = 0; e < rec->events.size(); ++e) {
      const MapScene scene = map_scene(*rec, place_of(*rec, e, {}));
      const bool counts_current = std::any_of(scene.tiles.begin(), scene.tiles.end(), [](const MapTile& t) {
        return t.current && t.look != MapLook::done && t.look != MapLook::skipped;
      });
      ASSERT_EQ(scene.done + scene.to_come + scene.skipped + (counts_current ? 1 : 0), scene.rows * scene.cols) << e;
      ASSERT_EQ(scene.words.size(), 3U);
      const std::string all = std::to_string(scene.rows * scene.cols - scene.skipped);
      const int pass = rec->events[e].pass;
      std::string first = std::to_string(scene.done) + " of " + all + " tiles done";
      if (stores_scores(rec->order) && pass < 2)
        first = "pass " + std::to_string(pass + 1) + " of 3";
      else if (counts_current)
        first = "tile " + std::to_string(scene.done + 1) + " of " + all;
      else if (scene.to_come == 0)
        first = "all " + all + " tiles done";
      EXPECT_EQ(scene.words[0], first);
      EXPECT_EQ(scene.words[1], std::to_string(scene.skipped) + " skipped");
      EXPECT_EQ(scene.words[2], "4 partly masked");
    }
  }
}

TEST(Map, AClickGoesToThatTileAndToThePhaseOfTheMoment) {
  const auto rec = record_preset("causal", "cpu_flash");
  const auto max = rec->find({0, 0, 1, 0, Phase::max});
  ASSERT_TRUE(max.has_value());
  const StepPlace at = place_of(*rec, *max, {});
  for (std::int32_t i = 0; i < rec->query_tiles(); ++i) {
    for (std::int32_t j = 0; j < rec->key_tiles(); ++j) {
      const auto e = event_of_tile(*rec, at, i, j);
      ASSERT_TRUE(e.has_value()) << i << "," << j;
      const EventId& id = rec->events[*e].id;
      EXPECT_EQ(id.i, i);
      EXPECT_EQ(id.j, j);
      EXPECT_TRUE(id.phase == Phase::max || id.phase == Phase::skipped) << name_of(id.phase);
    }
  }
  EXPECT_FALSE(event_of_tile(*rec, at, rec->query_tiles(), 0).has_value());
}

}  // namespace
}  // namespace attn
