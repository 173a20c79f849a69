// Where two recordings of one problem are aligned, and what the page says of that, on all pairs that come with the
// program.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/environment/asked.h"
#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/shown_part.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

// A consumer's stretch that hands over S of that key tile at that moment, by the rows that are drawn.
bool issues_s(const PipelineScene& s, std::int64_t at, std::int32_t tile) {
  const auto row = std::ranges::find(s.rows, s.issues_by, &TimelineRow::label);
  if (row == s.rows.end()) return false;
  return std::ranges::any_of(row->stretches, [&](const TimelineStretch& x) {
    return x.letter == "S" && x.tile == tile && x.from <= at && at <= x.to;
  });
}

bool says(const std::string& words, const std::string& part) {
  return words.find(part) != std::string::npos;
}

// The window as the page opens, the whole block, and narrow ones all along it.
std::vector<ProfileView> windows(const PipelineScene& s) {
  const auto ns = static_cast<std::int64_t>(std::ceil(static_cast<double>(s.length) * s.ns_a_clock));
  std::vector<ProfileView> views(2);
  views[1].time_to_ns = ns;
  for (int n = 0; n < 8; ++n) {
    ProfileView view;
    view.time_from_ns = n * ns / 8;
    view.time_to_ns = view.time_from_ns + std::max<std::int64_t>(600, ns / 40);
    views.push_back(view);
  }
  return views;
}

TEST(Alignment, IsWhereTheCaptionSaysInEveryPairAndWindow) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline", "h100-warps-timeline"});
  ASSERT_EQ(all.all.size(), 28U);
  std::size_t pairs = 0, away = 0, other_tiles = 0, seen = 0, n = 0;
  for (const auto& above : all.all) {
    PipelineScene s = timeline_scene(above, all, above->kernel);
    for (const PipelineScene::Choice& c : std::vector(s.choices)) {
      if (!c.may_be_beside || test::left_to_release(n++, 5)) continue;
      put_beside(s, c.id, all);
      ASSERT_NE(s.beside, nullptr) << c.id;
      ++pairs;
      for (const ProfileView& view : windows(s)) {
        show_part(s, view);
        const PipelineScene& b = *s.beside;
        const auto a = alignment_of(s);
        const std::string words = plain_text(alignment_words(s));
        const std::string where = id_of(*above) + " " + c.id + " " + std::to_string(view.time_from_ns) + ": " + words;
        if (!a) {
          EXPECT_TRUE(s.issues.empty() || b.issues.empty()) << where;
          EXPECT_TRUE(says(words, "start of each block")) << where;
          continue;
        }
        EXPECT_TRUE(issues_s(s, a->above, a->tile_above)) << where;
        EXPECT_TRUE(issues_s(b, a->below, a->tile_below)) << where;
        EXPECT_TRUE(says(words, fmt::format("S{}", a->tile_above))) << where;
        EXPECT_TRUE(says(words, fmt::format("S{}", a->tile_below))) << where;
        EXPECT_EQ(says(words, " below"), a->tile_above != a->tile_below || s.issues_by != b.issues_by) << where;
        // One place of both axes.
        const double up = static_cast<double>(a->above - s.from) * s.ns_a_clock,
                     low = static_cast<double>(a->below - b.from) * b.ns_a_clock;
        EXPECT_NEAR(up, low, 2) << where;
        const bool in_sight = a->above >= s.from && a->above < s.to;
        EXPECT_EQ(says(words, "at the dotted line"), in_sight) << where;
        EXPECT_EQ(says(words, "out of sight"), !in_sight) << where;
        if (!in_sight) {
          EXPECT_TRUE(says(words, time_text(static_cast<double>(a->above) * s.ns_a_clock))) << where;
        }
        seen += in_sight;
        away += !in_sight;
        other_tiles += a->tile_above != a->tile_below;
      }
    }
  }
  EXPECT_GT(pairs, 20U);
  EXPECT_GT(seen, 100U);
  EXPECT_GT(away, 10U);
  EXPECT_GT(other_tiles, 10U);
}

// How many consumers hand over a product S at least every other key tile, between the marks.
std::size_t at_work(const PipelineScene& s, std::int64_t from, std::int64_t to, std::size_t tiles) {
  const auto p = pipeline_of(*s.timeline, most_usual_block(*s.timeline, detailed_blocks(*s.timeline)));
  EXPECT_TRUE(p);
  std::map<std::size_t, std::size_t> products;  // by lane
  for (const Product& x : p->products)
    if (!x.of_o && x.issued - p->start >= from && x.issued - p->start < to) ++products[x.lane];
  return static_cast<std::size_t>(
      std::ranges::count_if(products, [&](const auto& lane) { return 2 * lane.second > tiles; }));
}

// Where a query tile leaves a consumer without rows, two are not compared there as long as the block has another one.
TEST(Alignment, OpensWhereBothHaveAsManyConsumersAtWork) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline", "h100-warps-timeline"});
  for (const auto& [above, below] :
       {std::pair("2141999f-785d", "ea0d2f5f-f6b2"), std::pair("735fe9ef-947f", "ba2d9240-16d1")}) {
    const auto at = std::ranges::find_if(all.all, [&](const auto& t) { return id_of(*t) == above; });
    ASSERT_NE(at, all.all.end()) << above;
    PipelineScene s = timeline_scene(*at, all, "flash_hopper");
    put_beside(s, below, all);
    ASSERT_NE(s.beside, nullptr) << below;
    show_part(s, {});
    const auto ahead = ahead_of(s);
    ASSERT_TRUE(ahead) << above;
    EXPECT_GE(ahead->tiles, 3U) << above;
    EXPECT_EQ(at_work(s, ahead->from_above, ahead->above, ahead->tiles),
              at_work(*s.beside, ahead->from_below, ahead->below, ahead->tiles))
        << above;
    // Within one query tile: its key tiles are visited one after the other.
    const auto first = static_cast<std::size_t>(std::ranges::find(s.issues, ahead->from_above) - s.issues.begin());
    for (std::size_t n = first; n < first + ahead->tiles; ++n)
      EXPECT_EQ(s.issue_tiles.at(n) - s.issue_tiles.at(n + 1), 1) << above << ", product " << n;
    EXPECT_EQ(ahead->above_work, ahead->below_work) << above;
  }
}

// Over all SMs every kernel's headline is the tail's, whether its lanes answer anything or not.
TEST(AllSmsHeadline, TellsOfTheTail) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-warps-timeline"});
  ProfileView view;
  view.time_sms = true;
  for (const auto& t : all.all) {
    PipelineScene s = timeline_scene(t, all, t->kernel);
    show_part(s, view);
    EXPECT_TRUE(verdict_of(s).starts_with("Where is the tail? ")) << verdict_of(s);
  }
}

}  // namespace
}  // namespace attn
