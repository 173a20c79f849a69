// Which chart the card shows, and which key it follows.
#include "viz/step/charts/chart_card.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/viz/step/fixture.h"

namespace attn {
namespace {

TEST(ChartCard, HasATabForEveryChart) {
  const auto tabs = chart_tabs(7);
  for (const StepChart chart : {StepChart::row, StepChart::hindsight, StepChart::passes, StepChart::error})
    EXPECT_EQ(std::count_if(tabs.begin(), tabs.end(), [&](const ChartTab& t) { return t.chart == chart; }), 1);
  EXPECT_EQ(tabs.front().words, "Row 7 across the keys");
}

TEST(ChartCard, DoesNotShowTheRowTwice) {
  EXPECT_EQ(shown_chart(StepChart::row, false), StepChart::row);
  EXPECT_EQ(shown_chart(StepChart::row, true), StepChart::hindsight);
  EXPECT_EQ(shown_chart(StepChart::error, true), StepChart::error);
}

TEST(ChartCard, FollowsThePinnedKeyElseThatOfTheSentence) {
  Selection pinned;
  StepPlace at;
  at.first_key = 4;
  StepValues values;
  EXPECT_EQ(followed_key(pinned, at, values), 4);
  values.key = 6;
  EXPECT_EQ(followed_key(pinned, at, values), 6);
  pinned.slot = Slot::o_new;
  pinned.col = 1;
  EXPECT_EQ(followed_key(pinned, at, values), 6) << "a column of O is no key";
  pinned.slot = Slot::p;
  EXPECT_EQ(followed_key(pinned, at, values), 1);
}

TEST(ChartCard, PutsTheSentenceFirstWhereThereIsOne) {
  const auto plain = chart_tabs(3, *record_preset("blackboard", "cpu_flash"));
  EXPECT_EQ(plain.front().chart, StepChart::row);
  EXPECT_EQ(std::ranges::count(plain, StepChart::sentence, &ChartTab::chart), 0);
  Recording sung = *record_preset("blackboard", "cpu_flash");
  sung.labels = {{"a", "b", "c", "d"}, {"a", "b", "c", "d"}};
  const auto tabs = chart_tabs(3, sung);
  EXPECT_EQ(tabs.front().chart, StepChart::sentence);
  EXPECT_EQ(tabs[1].chart, StepChart::row);
}

}  // namespace
}  // namespace attn
