// What the timeline says where it has little room, and how its track gives it out.
#include "viz/step/timeline/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

TEST(Timeline, ABriefTitleStillNamesItsTile) {
  EXPECT_EQ(brief_title("query tile 0"), "q 0");
  EXPECT_EQ(brief_title("key tile 12"), "k 12");
  EXPECT_EQ(brief_title("pass 2, query row 3"), "pass 2, q 3");
}

// What comes before and after the outer tiles is called by what it makes, never by a tile.
TEST(Timeline, NoTwoPartsOfARunHaveTheSameName) {
  for (const char* preset : {"blackboard", "late_outlier", "ragged", "masked_row"}) {
    for (const char* kernel : kRecordingKernels) {
      SCOPED_TRACE(std::string(preset) + " " + kernel);
      const auto rec = record_preset(preset, kernel);
      std::set<std::string> names;
      for (const ScrubberMark& mark : scrubber_marks(*rec)) EXPECT_TRUE(names.insert(mark.title).second) << mark.title;
      const auto last = static_cast<EventIndex>(rec->events.size() - 1);
      const TimelineScene scene = timeline_scene(*rec, place_of(*rec, last, {}), scrubber_marks(*rec), {});
      EXPECT_EQ(scene.outer, scene.marks.back().title);
      if (rec->order == Order::flash1) {
        EXPECT_EQ(scene.outer, "after: O, LSE");
      }
    }
  }
}

// Q, then `tiles` key tiles of three chips, then out; `live` is a group.
TimelineScene track_of(std::size_t tiles, std::size_t live) {
  TimelineScene scene;
  const auto add = [&](const std::string& tile, std::size_t chips) {
    const std::size_t group = scene.groups.size();
    scene.groups.push_back({tile.empty() ? "" : "key tile " + tile, scene.chips.size(), chips, group == live, tile});
    for (std::size_t n = 0; n < chips; ++n) {
      scene.chips.emplace_back();
      scene.chips.back().past = group < live;
    }
  };
  add("", 1);
  for (std::size_t n = 0; n < tiles; ++n) add(std::to_string(n), 3);
  add("", 1);
  return scene;
}

TrackRoom room_for(const TimelineScene& scene, float width) {
  return {width, 5, 20, std::vector<float>(scene.chips.size(), 10)};
}

// 4 tiles of 30, Q and out of 10 each, and 5 gaps of 5: 165.
TEST(Track, FoldsNothingThatFits) {
  const TimelineScene scene = track_of(4, 2);
  EXPECT_TRUE(lay_out_track(scene, room_for(scene, 165)).folds.empty());
  EXPECT_EQ(lay_out_track(scene, room_for(scene, 164)).folds.size(), 1U);
}

// Beside Q, out and key tile 2 of 8, in 200 pixels: 2 folds, 3 of the other tiles and their gaps.
TEST(Track, FoldsTheTilesFarthestFromTheLiveOne) {
  const TimelineScene scene = track_of(8, 3);
  const Track track = lay_out_track(scene, room_for(scene, 200));
  ASSERT_EQ(track.folds.size(), 2U);
  EXPECT_EQ(track.folds[0].tiles, "0");
  EXPECT_EQ(track.folds[1].tiles, "4–7");
  EXPECT_TRUE(track.folds[0].past);
  EXPECT_FALSE(track.folds[1].past);
  EXPECT_FALSE(track.tight);
}

TEST(Track, FoldsWhatIsNoTileOnlyBesideALiveTileThatFillsIt) {
  const TimelineScene scene = track_of(8, 3);
  const Track track = lay_out_track(scene, room_for(scene, 80));  // 20 + 5 + 30 + 5 + 20
  ASSERT_EQ(track.folds.size(), 2U);
  EXPECT_EQ(track.folds[0].count, 3U);  // Q and 0, 1
  EXPECT_EQ(track.folds[0].tiles, "0–1");
  EXPECT_EQ(track.folds[1].tiles, "3–7");
  EXPECT_FALSE(track.tight);
  EXPECT_TRUE(lay_out_track(scene, room_for(scene, 79)).tight);
}

TEST(Track, EveryChipHasRoomForItsLetterAndTheWidthIsFull) {
  for (std::size_t tiles : {1, 4, 8, 40}) {
    for (std::size_t live = 0; live < tiles + 2; ++live) {
      const TimelineScene scene = track_of(tiles, live);
      TrackRoom room = room_for(scene, 240);
      room.least[room.least.size() - 1] = 35;  // a long word
      const Track track = lay_out_track(scene, room);
      ASSERT_EQ(track.chips.size(), scene.chips.size());
      for (std::size_t n = 0; n < track.chips.size(); ++n) {
        const TrackSpan& span = track.chips[n];
        const bool folded =
            std::ranges::any_of(track.folds, [&](const TrackFold& f) { return f.at.from == span.from; });
        EXPECT_GE(span.to - span.from, (folded ? room.fold : room.least[n]) - 0.01F) << tiles << ", " << live;
      }
      EXPECT_NEAR(track.chips.front().from, 0, 0.01);
      EXPECT_NEAR(track.chips.back().to, 240, 0.01);
    }
  }
}

}  // namespace
}  // namespace attn
