// The key tile that is followed is in sight, or said where it is.
#include "viz/profile/timeline/scene/followed.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profiling/timeline/pipeline.h"
#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/shown_part.h"

namespace attn {
namespace {

// When consumers have a product of the tile in flight, clocks from the block's start.
std::vector<std::pair<std::int64_t, std::int64_t>> products_of(const Timeline& t, std::int32_t tile) {
  const auto p = pipeline_of(t, detailed_blocks(t).front());
  EXPECT_TRUE(p);
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const Product& x : p->products)
    if (x.tile == tile) found.emplace_back(x.issued - p->start, x.returned - p->start);
  return found;
}

bool sees(const PipelineScene& s, const std::vector<std::pair<std::int64_t, std::int64_t>>& spans) {
  return std::ranges::any_of(spans, [&](const auto& x) { return x.second > s.from && x.first < s.to; });
}

TEST(Followed, IsInSightWhereNoPartWasChosen) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline"});
  std::size_t moved = 0;
  for (const auto& t : all.all) {
    PipelineScene s =
        timeline_scene(t, all, t->kernel, t->blocks[static_cast<std::size_t>(detailed_blocks(*t).front())].block);
    if (s.path.empty()) continue;
    show_part(s, {});
    const std::int64_t usual = s.from;
    for (const std::int32_t tile : {0, 3, 7}) {
      const auto spans = products_of(*t, tile);
      if (spans.empty()) continue;
      ProfileView view;
      view.key_tile = tile;
      show_part(s, view);
      EXPECT_TRUE(sees(s, spans)) << s.strip << ", " << tile;
      EXPECT_FALSE(followed_elsewhere(s));
      moved += s.from != usual;
    }
  }
  EXPECT_GT(moved, 0U);
}

TEST(Followed, IsSaidToBeWhereItIsAndAWindowAboutThatShowsIt) {
  const TimelinesView all = bundled_timelines({"h100-timeline"});
  std::size_t before = 0, after = 0;
  for (const auto& t : all.all) {
    PipelineScene s =
        timeline_scene(t, all, t->kernel, t->blocks[static_cast<std::size_t>(detailed_blocks(*t).front())].block);
    if (s.path.empty()) continue;
    ProfileView view;
    view.key_tile = 3;
    for (const double share : {0.0, 0.5, 0.95}) {
      const auto all_ns = static_cast<double>(s.length) * s.ns_a_clock;
      view.time_from_ns = static_cast<std::int64_t>(share * all_ns);
      view.time_to_ns = view.time_from_ns + 600;
      show_part(s, view);
      const auto elsewhere = followed_elsewhere(s);
      if (!elsewhere) continue;
      EXPECT_FALSE(sees(s, products_of(*t, 3)));
      (elsewhere->before ? before : after) += 1;
      EXPECT_TRUE(elsewhere->before ? elsewhere->to <= s.from : elsewhere->from >= s.to);
      std::tie(s.from, s.to) = window_about(s, *elsewhere);
      EXPECT_FALSE(followed_elsewhere(s));
      EXPECT_GE(s.from, 0);
      EXPECT_LE(s.to, s.length);
    }
  }
  EXPECT_GT(before, 0U);
  EXPECT_GT(after, 0U);
}

// A label says the same at any zoom, in the same unit: its own moment, in microseconds.
TEST(Ticks, AreMicrosecondsAtEveryZoom) {
  const TimelinesView all = bundled_timelines();
  PipelineScene s = timeline_scene(all.all.front(), all, "flash_hopper");
  for (const std::int64_t span : {200000, 16000, 3000, 1500, 400, 60}) {
    ProfileView view;
    view.time_from_ns = 20000;
    view.time_to_ns = 20000 + span;
    show_part(s, view);
    ASSERT_GE(s.ticks.size(), 3U) << span;
    for (std::size_t n = 0; n < s.ticks.size(); ++n) {
      const double us = static_cast<double>(s.ticks[n].at) * s.ns_a_clock * 1e-3;
      EXPECT_NEAR(std::stod(s.ticks[n].text), us, 1e-3) << s.ticks[n].text;
      EXPECT_EQ(s.ticks[n].text.find_first_not_of("0123456789."), std::string::npos) << s.ticks[n].text;
      if (n > 0) {
        EXPECT_NE(s.ticks[n].text, s.ticks[n - 1].text);
      }
    }
  }
}

// Where the lower window begins before its block: zero is 0, and every label is on its own moment.
TEST(Ticks, OfTwoRecordingsHaveNoNegativeZero) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline"});
  std::size_t pairs = 0, zeros = 0;
  for (const auto& above : all.all) {
    PipelineScene s = timeline_scene(above, all, above->kernel);
    for (const PipelineScene::Choice& c : std::vector(s.choices)) {
      if (!c.may_be_beside) continue;
      put_beside(s, c.id, all);
      ASSERT_NE(s.beside, nullptr);
      ProfileView view;
      view.time_to_ns = static_cast<std::int64_t>(std::ceil(static_cast<double>(s.length) * s.ns_a_clock));
      show_part(s, view);
      ++pairs;
      for (const PipelineScene* const half : std::vector<const PipelineScene*>{&s, s.beside.get()}) {
        for (const TimelineTick& tick : half->ticks) {
          const double us = std::stod(tick.text);
          EXPECT_NEAR(us, static_cast<double>(tick.at) * half->ns_a_clock * 1e-3, 2e-3) << tick.text;
          EXPECT_EQ(tick.text.starts_with('-'), us < 0) << tick.text << " of " << id_of(*above) << " " << c.id;
          zeros += us == 0;
        }
      }
    }
  }
  EXPECT_GT(pairs, 40U);
  EXPECT_GT(zeros, 20U);
}

}  // namespace
}  // namespace attn
