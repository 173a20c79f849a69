// Bookmarks and the steps where m changes: set, walked to, and kept through other runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/control/controller.h"
#include "app/state/apply/apply.h"
#include "viz/state/view_step.h"
#include "viz/step/facts/landmarks.h"

namespace attn {
namespace {

Controller with_preset_shown(const char* preset) {
  ControllerOptions options;
  options.state = *with_preset(initial_state(), preset);
  return Controller(std::move(options));
}

TEST(Bookmarks, AreSetTakenAwayAndWalkedTo) {
  Controller c = with_preset_shown("blackboard");
  const auto cursor = [&] { return c.state().view.step.cursor; };
  c.update({GoToEvent{9}, ToggleBookmark{}, ToggleBookmark{3}, ToggleBookmark{20}, GoToEnd{false}});
  EXPECT_EQ(bookmarked_steps(*c.model().recording, c.state().view.step.bookmarks), (std::vector<EventIndex>{3, 9, 20}));
  for (const EventIndex want : {3U, 9U, 20U, 20U}) {
    c.update({GoToLandmark{Landmark::bookmark, 1}});
    EXPECT_EQ(cursor(), want);
  }
  const auto said = c.log().after(0);
  ASSERT_FALSE(said.empty());
  EXPECT_NE(said.back().text.find("no bookmark after"), std::string::npos);
  c.update({GoToLandmark{Landmark::bookmark, -1}});
  EXPECT_EQ(cursor(), 9U);
  c.update({ToggleBookmark{}});
  const auto left = bookmarked_steps(*c.model().recording, c.state().view.step.bookmarks);
  EXPECT_EQ(std::ranges::find(left, 9U), left.end());
  c.update({ClearBookmarks{}});
  EXPECT_TRUE(c.state().view.step.bookmarks.empty());
}

TEST(Bookmarks, NameAPlaceThatOutlivesAnotherRunAndNoUndoTouchesThem) {
  Controller c = with_preset_shown("random");
  const EventIndex at = *c.model().recording->find({0, 0, 3, 2, Phase::max});
  c.update({ToggleBookmark{at}});
  Options tile = c.state().document.options;
  tile.bc *= 2;  // two key tiles: (3, 2) is not in this run
  c.update({SetOptions{tile, 0}});
  EXPECT_TRUE(bookmarked_steps(*c.model().recording, c.state().view.step.bookmarks).empty());
  c.update({Undo{}});
  EXPECT_EQ(bookmarked_steps(*c.model().recording, c.state().view.step.bookmarks), std::vector<EventIndex>{at});
  // Another order walks the same tile in passes: another place.
  c.update({ChooseKernel{"cpu_tiled"}});
  EXPECT_TRUE(bookmarked_steps(*c.model().recording, c.state().view.step.bookmarks).empty());
}

TEST(Bookmarks, AreBounded) {
  Controller c = with_preset_shown("random");
  ASSERT_GT(c.model().recording->events.size(), kMaxBookmarks + 1);
  for (EventIndex e = 0; e <= kMaxBookmarks; ++e) c.update({ToggleBookmark{e}});
  EXPECT_EQ(c.state().view.step.bookmarks.size(), kMaxBookmarks);
}

TEST(Bookmarks, AStepInWordsNamesItsTilesAndPhase) {
  const Controller c = with_preset_shown("blackboard");
  const Recording& rec = *c.model().recording;
  EXPECT_EQ(step_words(rec, *rec.find({0, 0, 1, 0, Phase::max})), "query tile 1, key tile 0: m");
}

TEST(MChanges, AreWalkedToInBothDirectionsForThePinnedRow) {
  Controller c = with_preset_shown("late_outlier");
  const Recording& rec = *c.model().recording;
  c.update({Select{{0, 0, 2, Slot::s, -1}}, GoToEnd{false}});
  const StepPlace place = place_of(rec, 0, c.state().document.selection);
  const auto steps = steps_where_m_changes(rec, place, 2);
  ASSERT_GE(steps.size(), 2U);
  for (const EventIndex want : steps) {
    c.update({GoToLandmark{Landmark::m_change, 1}});
    EXPECT_EQ(c.state().view.step.cursor, want);
    EXPECT_EQ(rec.events[want].id.phase, Phase::max);
  }
  for (std::size_t n = steps.size() - 1; n-- > 0;) {
    c.update({GoToLandmark{Landmark::m_change, -1}});
    EXPECT_EQ(c.state().view.step.cursor, steps[n]);
  }
  c.update({GoToLandmark{Landmark::m_change, -1}});
  EXPECT_EQ(c.state().view.step.cursor, steps.front());
  EXPECT_NE(c.log().after(0).back().text.find("does not change before"), std::string::npos);
}

TEST(Speed, GoesThroughItsStepsAndStopsAtTheEnds) {
  float speed = 0.5F;
  EXPECT_EQ(next_speed(speed, -1), 0.5F);
  for (const float want : {1.0F, 2.0F, 4.0F, 8.0F, 16.0F, 32.0F, 32.0F}) {
    speed = next_speed(speed, 1);
    EXPECT_EQ(speed, want);
  }
  EXPECT_EQ(next_speed(3, -1), 2);  // between two of them
  EXPECT_EQ(next_speed(3, 1), 4);
}

}  // namespace
}  // namespace attn
