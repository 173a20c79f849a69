// Rows of every recording that comes with the program: as high as their letters need, all on one screen where that can
// be.
#include "viz/profile/timeline/scene/row_heights.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "tests/viz/profile/timeline/bundled_timelines.h"

namespace attn {
namespace {

constexpr float kLetter = 13;  // logical pixels: a letter with its index

std::vector<PipelineScene> scenes() {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline", "h100-warps-timeline"});
  std::vector<PipelineScene> made;
  for (const auto& t : all.all) made.push_back(timeline_scene(t, all, t->kernel));
  return made;
}

RowHeights alone(const PipelineScene& s, float room) {
  const std::vector<const PipelineScene*> one{&s};
  return row_heights(one, room);
}

std::size_t slots_of(const PipelineScene& s) {
  return static_cast<std::size_t>(std::ranges::count(s.rows, RowKind::slot, &TimelineRow::kind));
}

std::size_t consumers_of(const PipelineScene& s) {
  return static_cast<std::size_t>(std::ranges::count(s.rows, RowKind::computes, &TimelineRow::kind));
}

// What the page leaves the rows at 1440 x 900.
TEST(RowHeights, HaveRoomForEverySlotAndItsLetterAt1440x900) {
  std::size_t most = 0;
  for (const PipelineScene& s : scenes()) {
    const RowHeights h = alone(s, 460);
    EXPECT_LE(all_rows_height(s, h), 460) << s.strip;
    if (slots_of(s) == 0) continue;
    EXPECT_GE(h.slot, 16) << s.strip;
    EXPECT_LE(h.slot, 20) << s.strip;
    most = std::max(most, slots_of(s));
  }
  EXPECT_EQ(most, 8U);
}

TEST(RowHeights, NeverLetALetterStandOutOfItsBox) {
  for (const PipelineScene& s : scenes())
    for (const float room : {0.0F, 120.0F, 300.0F, 320.0F, 460.0F, 900.0F}) {
      const RowHeights h = alone(s, room);
      EXPECT_GE(h.slot, kLetter) << room;
      EXPECT_GE(h.lane * (1 - kWaitTop), kLetter) << room;
      for (const TimelineRow& row : s.rows)
        if (row.kind == RowKind::copies) {
          EXPECT_GE(h.of(row), kLetter);
        }
    }
}

TEST(RowHeights, GrowWithTheRoomAndDoNotLeaveIt) {
  for (const PipelineScene& s : scenes()) {
    const float least = all_rows_height(s, alone(s, 0));
    float before = 0;
    for (float room = least; room < 900; room += 20) {
      const float height = all_rows_height(s, alone(s, room));
      EXPECT_LE(height, room);
      EXPECT_GE(height, before - 8.01F) << "products may be higher where there is room";
      before = height;
    }
  }
}

TEST(RowHeights, OfTwoScenesShareOneRoom) {
  const std::vector<PipelineScene> all = scenes();
  const PipelineScene& s = all.front();
  const std::vector<const PipelineScene*> both{&s, &s};
  const RowHeights h = row_heights(both, 620);
  EXPECT_LE(2 * all_rows_height(s, h), 620);
  EXPECT_LT(h.lane, alone(s, 620).lane);
}

// What the page leaves two recordings with four slots each at 1280 x 720.
TEST(RowHeights, LetTwoRecordingsBeSeenAtOnceInALowWindow) {
  const std::vector<PipelineScene> all = scenes();
  const auto four =
      std::ranges::find_if(all, [](const PipelineScene& s) { return slots_of(s) == 4 && consumers_of(s) == 2; });
  ASSERT_NE(four, all.end());
  const std::vector<const PipelineScene*> both{&*four, &*four};
  const float least = 2 * all_rows_height(*four, alone(*four, 0));
  const RowHeights h = row_heights(both, 320);
  EXPECT_GT(least, 320) << "as high as letters need";
  EXPECT_LE(2 * all_rows_height(*four, h), 320);
  EXPECT_GE(h.lane, 20) << "a consumer's work keeps its letters";
}

// A path in the place of no lane would be of the wrong one.
TEST(RowHeights, KeepTheLaneThatCopiesQWhereThePathRunsThroughIt) {
  std::size_t kept = 0, left_out = 0;
  for (const PipelineScene& s : scenes()) {
    const std::vector<const PipelineScene*> both{&s, &s};
    const RowHeights h = row_heights(both, 300, true);
    for (std::size_t n = 0; n < s.rows.size(); ++n) {
      if (!s.rows[n].of_q) continue;
      const bool on_path = std::ranges::find(s.path_rows, n) != s.path_rows.end();
      EXPECT_EQ(h.of(s.rows[n]) > 0, on_path) << s.strip;
      EXPECT_LT(h.of(s.rows[n]), s.rows[n].height) << s.strip;
      (on_path ? kept : left_out) += 1;
    }
  }
  EXPECT_GT(kept, 0U);
  EXPECT_GT(left_out, 0U);
}

// However little room there is: never roomier than with more of it.
TEST(RowHeights, OfTwoRecordingsNeverGrowAgainWhereTheRoomIsTooLow) {
  const std::vector<PipelineScene> all = scenes();
  for (const PipelineScene& s : all) {
    if (consumers_of(s) < 3) continue;
    const std::vector<const PipelineScene*> both{&s, &s};
    float before = 0;
    for (float room = 100; room < 700; room += 10) {
      const float height = 2 * all_rows_height(s, row_heights(both, room));
      EXPECT_GE(height, before) << s.strip << ", " << room;
      EXPECT_LE(height, std::max(room, least_rows_height(both, false))) << s.strip << ", " << room;
      before = height;
    }
    const bool copies_q = std::ranges::any_of(s.rows, &TimelineRow::of_q);
    EXPECT_EQ(least_rows_height(both, true) < least_rows_height(both, false), copies_q) << s.strip;
  }
}

}  // namespace
}  // namespace attn
