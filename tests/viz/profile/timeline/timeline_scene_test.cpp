// What Profile shows of a recorded launch, on the recordings that come with the program.
#include "viz/profile/timeline/timeline_scene.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "viz/profile/timeline/shown_part.h"

namespace attn {
namespace {

TimelinesView bundled() {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  EXPECT_TRUE(session) << (session ? "" : session.error().message);
  TimelinesView view;
  view.looked = true;
  if (session)
    for (const Timeline& t : session->timelines) view.all.push_back(std::make_shared<const Timeline>(t));
  return view;
}

PipelineScene scene_of(const TimelinesView& all, std::size_t n, const ProfileView& view = {}) {
  PipelineScene scene = timeline_scene(all.all.at(n), all, "flash_hopper");
  show_part(scene, view);
  return scene;
}

TEST(PipelineSceneTest, EveryBundledRecordingIsOfTheTextThatShipsAndIsDrawn) {
  const TimelinesView all = bundled();
  ASSERT_EQ(all.all.size(), 6U);
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const Timeline& t = *all.all[n];
    const auto row = find_kernel(t.kernel);
    ASSERT_TRUE(row);
    const auto source = gpu::source_of(**row, t.problem, {});
    ASSERT_TRUE(source);
    EXPECT_EQ(t.source_hash, source->hash);
    const PipelineScene s = scene_of(all, n);
    EXPECT_TRUE(s.there) << s.empty;
    EXPECT_FALSE(s.headline.empty());
    EXPECT_EQ(s.choices.size(), all.all.size());
    EXPECT_TRUE(s.choices[n].on);
  }
}

TEST(PipelineSceneTest, SharesOfThePathAndOfEachLaneAreAllOfTheTime) {
  const TimelinesView all = bundled();
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const PipelineScene s = scene_of(all, n);
    double path = 0;
    for (const PathShare& share : s.shares) path += share.share;
    EXPECT_GT(path, 0.96);  // what is under half a per cent has no name
    EXPECT_LE(path, 1.0 + 1e-9);
    EXPECT_EQ(s.path.front().from, 0);
    EXPECT_EQ(s.path.back().to, s.length);
    for (const auto& lane : s.lanes) {
      double sum = 0;
      for (const PathShare& part : lane.parts) sum += part.share;
      EXPECT_GT(sum, 0.95) << lane.lane;
      EXPECT_LE(sum, 1.0 + 1e-9) << lane.lane;
    }
  }
}

TEST(PipelineSceneTest, NothingChosenShowsSomeTilesAndAPartIsWhatWasChosen) {
  const TimelinesView all = bundled();
  const PipelineScene some = scene_of(all, 0);
  EXPECT_FALSE(some.whole);
  EXPECT_LT(some.to - some.from, some.length / 8);
  ProfileView view;
  view.time_from_ns = 10000;
  view.time_to_ns = 20000;
  const PipelineScene part = scene_of(all, 0, view);
  EXPECT_NEAR(static_cast<double>(part.from) * part.ns_a_clock, 10000, 1);
  EXPECT_NEAR(static_cast<double>(part.to) * part.ns_a_clock, 20000, 1);
  ASSERT_FALSE(part.ticks.empty());
  for (const TimelineTick& tick : part.ticks) {
    EXPECT_GE(tick.at, part.from);
    EXPECT_LE(tick.at, part.to);
  }
  view.time_from_ns = 0;
  view.time_to_ns = 1000000000;
  const PipelineScene whole = scene_of(all, 0, view);
  EXPECT_TRUE(whole.whole);
  EXPECT_FALSE(whole.with_path);  // a net
}

TEST(PipelineSceneTest, ASlotsTileIsInFlightThenLandedThenReadByEachConsumer) {
  const TimelinesView all = bundled();
  const PipelineScene s = scene_of(all, 0);
  const auto slot = std::ranges::find(s.rows, std::string("slot 1"), &TimelineRow::label);
  ASSERT_NE(slot, s.rows.end());
  ASSERT_GE(slot->stretches.size(), 5U);
  EXPECT_EQ(slot->stretches[0].look, StretchLook::flight);
  EXPECT_EQ(slot->stretches[1].look, StretchLook::landed);
  EXPECT_EQ(slot->stretches[0].to, slot->stretches[1].from);
  for (int reader = 2; reader < 5; ++reader) {
    EXPECT_EQ(slot->stretches[static_cast<std::size_t>(reader)].look, StretchLook::read);
    EXPECT_EQ(slot->stretches[static_cast<std::size_t>(reader)].tile, slot->stretches[0].tile);
  }
}

TEST(PipelineSceneTest, ARecordingAboveItsPriceIsRefusedWithItsFigure) {
  TimelinesView all = bundled();
  Timeline dear = *all.all.front();
  dear.traced_us = 1.2 * dear.plain_us;
  const PipelineScene s = timeline_scene(std::make_shared<const Timeline>(dear), all, "flash_hopper");
  EXPECT_FALSE(s.there);
  EXPECT_NE(s.empty.find("1.200"), std::string::npos) << s.empty;
}

TEST(PipelineSceneTest, TheOneIsShownThatFitsBest) {
  const TimelinesView all = bundled();
  ProfileView view;
  EXPECT_EQ(timeline_shown(view, all, "flash_hopper", all.all[5]->problem), all.all[5]);
  EXPECT_EQ(timeline_shown(view, all, "flash_mma", all.all[5]->problem), all.all[0]);
  view.timeline = id_of(*all.all[3]);
  EXPECT_EQ(timeline_shown(view, all, "flash_hopper", all.all[5]->problem), all.all[3]);
  EXPECT_EQ(timeline_shown(view, {}, "flash_hopper", {}), nullptr);
  EXPECT_NE(timeline_scene(nullptr, {}, "").empty.find("Looking"), std::string::npos);
  const PipelineScene other = timeline_scene(all.all[0], all, "flash_mma");
  EXPECT_NE(other.words.find("No launch of flash_mma was recorded"), std::string::npos) << other.words;
}

TEST(PipelineSceneTest, BlocksAreBandsByTheirEndWithTheirQueryTiles) {
  const TimelinesView all = bundled();
  const PipelineScene s = scene_of(all, 0);
  const Timeline& t = *all.all[0];
  EXPECT_EQ(s.bands.size(), t.blocks.size());
  EXPECT_EQ(s.band_rows, 132);
  std::size_t tiles = 0;
  for (const BlockBand& b : s.bands) tiles += b.tiles_ns.size();
  // 16 heads of 16 sequences, 1024 rows in tiles of up to 192: six each.
  EXPECT_EQ(tiles, 16U * 16 * 6);
  for (const BlockBand& a : s.bands)
    for (const BlockBand& b : s.bands) {
      if (a.row < b.row) {
        EXPECT_LE(a.to_ns, b.to_ns);
      }
    }
}

}  // namespace
}  // namespace attn
