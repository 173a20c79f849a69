// Which block of a recording is shown: the most usual that it holds in detail, or the one that is chosen.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profiling/session/session.h"
#include "tests/environment/paths.h"
#include "tests/viz/profile/timeline/two_blocks.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

Timeline recorded() {
  auto session = read_session(test::source_folder() + "/assets/sessions/h100-timeline.attn");
  EXPECT_TRUE(session);
  return session->timelines.front();
}

PipelineScene shown_at(const Timeline& t, std::int64_t block) {
  TimelinesView all;
  all.looked = true;
  all.all.push_back(std::make_shared<const Timeline>(t));
  return timeline_scene(all.all.front(), all, t.kernel, block);
}

double ns_of(const Timeline& t, std::int64_t block) {
  const auto at = std::ranges::find(t.blocks, block, &TimedBlock::block);
  const auto clock = std::ranges::find(t.sms, at->sm, &SmClock::sm);
  return static_cast<double>(at->end_clock - at->start_clock) * clock->ns_per_clock;
}
double median_ns(const Timeline& t) {
  std::vector<double> all;
  for (const TimedBlock& b : t.blocks) all.push_back(ns_of(t, b.block));
  std::ranges::sort(all);
  return all[(all.size() - 1) / 2];
}

TEST(TimelineBlocks, EachThatWasRecordedInDetailCanBeShown) {
  const Timeline two = with_two_blocks(recorded());
  const PipelineScene first = shown_at(two, -1);
  ASSERT_TRUE(first.there) << first.empty;
  ASSERT_EQ(first.blocks.size(), 2U);
  // The one that the median block is nearest to.
  const double median = median_ns(two);
  for (const std::int64_t block : first.blocks)
    EXPECT_LE(std::fabs(ns_of(two, first.block) - median), std::fabs(ns_of(two, block) - median)) << block;
  for (const std::int64_t block : first.blocks) {
    const PipelineScene s = shown_at(two, block);
    ASSERT_TRUE(s.there) << s.empty;
    EXPECT_EQ(s.block, block);
    const auto timed = std::ranges::find(two.blocks, block, &TimedBlock::block);
    EXPECT_NE(s.title.find(fmt::format("block {} on SM {}", block, timed->sm)), std::string::npos) << s.title;
    EXPECT_EQ(s.length, timed->end_clock - timed->start_clock);
    for (const BlockBand& band : s.bands) {
      EXPECT_EQ(band.shown, band.block == block);
      EXPECT_EQ(band.detailed, std::ranges::find(s.blocks, band.block) != s.blocks.end());
      EXPECT_EQ(band.tip.find("Click") != std::string::npos, band.detailed && !band.shown) << band.tip;
    }
    EXPECT_NE(s.notes.find(fmt::format("2 of {} blocks were recorded", two.grid_blocks)), std::string::npos) << s.notes;
  }
  // One that it does not hold in detail, as a link to another recording may name.
  EXPECT_EQ(shown_at(two, 1 << 20).block, first.block);
}

TEST(TimelineBlocks, ARecordingOfOneSaysWhichAndHowOthersAreRecorded) {
  const Timeline one = recorded();
  const PipelineScene s = shown_at(one, -1);
  ASSERT_EQ(s.blocks.size(), 1U);
  const std::string words = fmt::format(
      "Only block {} was recorded state by state. To record M blocks from block N on, use attnscope timeline "
      "{} --block N --blocks M.",
      s.block, one.kernel);
  EXPECT_NE(s.notes.find(words), std::string::npos) << s.notes;
}

}  // namespace
}  // namespace attn
