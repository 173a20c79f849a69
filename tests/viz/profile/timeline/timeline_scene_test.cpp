// What Profile shows of a recorded launch, on the recordings that come with the program.
#include "viz/profile/timeline/scene/timeline_scene.h"
#include "tests/environment/asked.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/ladder.h"
#include "profiling/timeline/what_if.h"
#include "tests/environment/paths.h"
#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/shown_part.h"

namespace attn {
namespace {

PipelineScene scene_of(const TimelinesView& all, std::size_t n, const ProfileView& view = {}) {
  PipelineScene scene = timeline_scene(all.all.at(n), all, "flash_hopper");
  show_part(scene, view);
  return scene;
}

TEST(PipelineSceneTest, EveryBundledRecordingIsOfTheTextThatShipsAndIsDrawn) {
  const TimelinesView all = bundled_timelines();
  ASSERT_EQ(all.all.size(), 21U);
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    if (test::left_to_release(n, 6)) continue;
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

TEST(PipelineSceneTest, BundledWarpsOfFlashMmaAreDrawnAtTheirPrice) {
  const TimelinesView all = bundled_timelines({"h100-warps-timeline"});
  ASSERT_EQ(all.all.size(), 4U);
  for (const auto& t : all.all) {
    const auto row = find_kernel(t->kernel);
    ASSERT_TRUE(row);
    const auto source = gpu::source_of(**row, t->problem, {});
    ASSERT_TRUE(source);
    EXPECT_EQ(t->source_hash, source->hash);
    EXPECT_LE(t->traced_us, 1.08 * t->plain_us);
    EXPECT_TRUE(t->plain_quartiles.q1 <= t->plain_us && t->plain_us <= t->plain_quartiles.q3);
    EXPECT_TRUE(t->traced_quartiles.q1 <= t->traced_us && t->traced_us <= t->traced_quartiles.q3);
    const PipelineScene s = timeline_scene(t, all, t->kernel);
    EXPECT_TRUE(s.there) << s.empty;
    EXPECT_FALSE(s.headline.empty());
    EXPECT_TRUE(s.path.empty());
  }
}

TEST(PipelineSceneTest, SharesOfThePathAndOfEachLaneAreAllOfTheTime) {
  const TimelinesView all = bundled_timelines();
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    if (test::left_to_release(n, 6)) continue;
    const PipelineScene s = scene_of(all, n);
    const auto told = [](const std::vector<PathShare>& shares) {
      double sum = 0;
      for (const PathShare& share : shares) sum += std::stod(share.value);
      return sum;
    };
    double path = 0;
    for (const PathShare& share : s.shares) path += share.share;
    EXPECT_NEAR(path, 1, 1e-9);
    EXPECT_NEAR(told(s.shares), 100, 1e-6);
    EXPECT_EQ(s.path.front().from, 0);
    EXPECT_EQ(s.path.back().to, s.length);
    for (const auto& lane : s.lanes) {
      double sum = 0;
      for (const PathShare& part : lane.parts) sum += part.share;
      EXPECT_NEAR(sum, 1, 1e-9) << lane.lane;
      EXPECT_NEAR(told(lane.parts), 100, 1e-6) << lane.lane;
    }
  }
}

TEST(PipelineSceneTest, NothingChosenShowsSomeTilesAndAPartIsWhatWasChosen) {
  const TimelinesView all = bundled_timelines();
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

TEST(PipelineSceneTest, ASlotsTileIsInFlightThenLandedThenReadByEachConsumerAndTheSlotIsFreeBeforeAndBehind) {
  const TimelinesView all = bundled_timelines();
  const PipelineScene s = scene_of(all, 0);
  const auto slot = std::ranges::find(s.rows, std::string("slot 1"), &TimelineRow::label);
  ASSERT_NE(slot, s.rows.end());
  ASSERT_GE(slot->stretches.size(), 12U);
  const std::vector<StretchLook> looks{StretchLook::nothing, StretchLook::flight, StretchLook::landed,
                                       StretchLook::read,    StretchLook::read,   StretchLook::read};
  const auto& of = slot->stretches;
  for (std::size_t n = 0; n < looks.size(); ++n) EXPECT_EQ(of[n].look, looks[n]) << n;
  EXPECT_EQ(of[0].from, 0);
  EXPECT_EQ(of[0].to, of[1].from);
  EXPECT_EQ(of[1].to, of[2].from);
  for (std::size_t n = 2; n < looks.size(); ++n) EXPECT_EQ(of[n].tile, of[1].tile);
  // Behind its last tile it is free to the block's end.
  EXPECT_EQ(of.back().look, StretchLook::nothing);
  EXPECT_EQ(of.back().to, s.length);
}

// The first recording with these options; -1: any.
std::size_t recorded(const TimelinesView& all, std::int64_t L, std::int64_t D, int slots, int step) {
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const Timeline& t = *all.all[n];
    const auto has_step = [&](const Setting& s) { return s.name == "step" && s.value == step; };
    const bool fits = step < 0 || std::ranges::any_of(t.options.further, has_step);
    if (t.problem.Lk == L && t.problem.D == D && (slots < 0 || t.options.stages == slots) && fits &&
        !t.problem.mask.causal)
      return n;
  }
  ADD_FAILURE() << "no such recording: L " << L << ", " << slots << " slots, step " << step;
  return 0;
}

TEST(PipelineSceneTest, WhatAThirdSlotAndBlocksThatStayBringIsDerivedWithinAThirdOfWhatWasMeasured) {
  const TimelinesView all = bundled_timelines();
  struct Case {
    std::size_t without, with;
    bool slots;
  };
  for (const Case& c : {Case{recorded(all, 1024, 128, 2, 11), recorded(all, 1024, 128, 3, 11), true},
                        {recorded(all, 1024, 128, -1, 6), recorded(all, 1024, 128, -1, 7), false}}) {
    const Timeline& t = *all.all[c.without];
    const auto p = pipeline_of(t, detailed_blocks(t).front());
    ASSERT_TRUE(p) << p.error().message;
    const auto slots = with_slots(t, *p, 3);
    const auto then = c.slots && slots ? std::optional(slots->share) : with_blocks_that_stay(t, *p);
    ASSERT_TRUE(then);
    ASSERT_EQ(slots.has_value(), c.slots);
    const double measured = 1 - all.all[c.with]->plain_us / t.plain_us;
    EXPECT_GT(measured, 0.05);
    EXPECT_NEAR(1 - *then, measured, std::max(0.02, 0.3 * measured));
    const auto words_among = [&](const TimelinesView& others) {
      return c.slots ? slot_words(t, *p, others) : stay_words(t, *p, others);
    };
    const std::string words = words_among(all);
    EXPECT_NE(words.find("Derived from"), std::string::npos) << words;
    EXPECT_NE(words.find(c.slots ? "3 slots" : "blocks that stay"), std::string::npos) << words;
    EXPECT_NE(words.find(fmt::format("{:.1f} %", 100 * measured)), std::string::npos) << words;
    // Nothing to hold it against: nothing is said. Nor where what was measured says otherwise.
    TimelinesView alone;
    alone.all = {all.all[c.without]};
    EXPECT_EQ(words_among(alone).find("Derived"), std::string::npos);
    Timeline other = *all.all[c.with];
    other.plain_us = t.plain_us * 1.1;
    alone.all.push_back(std::make_shared<const Timeline>(other));
    EXPECT_EQ(words_among(alone).find("Derived"), std::string::npos);
  }
}

// The first reader's questions, by numbers.
TEST(PipelineSceneTest, ThreeQuestionsAreAnsweredByNumbers) {
  const TimelinesView all = bundled_timelines();
  const PipelineScene two = scene_of(all, recorded(all, 1024, 128, 2, 11));
  ASSERT_EQ(two.answers.size(), 3U);
  EXPECT_EQ(two.answers[0].answer, two.headline);
  double copies = 0;
  for (const PathShare& share : two.shares) {
    const bool copy = share.words.find("in flight") != std::string::npos;
    if (copy)
      copies += std::stod(share.value);
    else
      EXPECT_NE(two.answers[0].why.find(share.value + " " + share.words), std::string::npos) << two.answers[0].why;
  }
  EXPECT_NE(two.answers[0].why.find(fmt::format("{:.1f} % copies in flight", copies)), std::string::npos)
      << two.answers[0].why;
  EXPECT_EQ(two.answers[1].question, "How much time would a ring of 3 slots save?");
  const double measured =
      1 - all.all[recorded(all, 1024, 128, 3, 11)]->plain_us / all.all[recorded(all, 1024, 128, 2, 11)]->plain_us;
  EXPECT_NE(two.answers[1].answer.find(fmt::format("Measured: {:.1f} %", 100 * measured)), std::string::npos)
      << two.answers[1].answer;
  EXPECT_NE(two.answers[1].answer.find("derived"), std::string::npos);
  EXPECT_EQ(two.answers[2].why, two.tail);
  // Its length stands in the answer itself, with what the clocks of two SMs differ by.
  const Timeline& t = *two.timeline;
  std::map<std::int32_t, std::int64_t> ends;
  for (const TimedBlock& b : t.blocks) ends[b.sm] = std::max(ends[b.sm], b.end_ns);
  std::int64_t first = ends.begin()->second, last = 0;
  for (const auto& [sm, end] : ends) first = std::min(first, end), last = std::max(last, end);
  double residual = 0;
  for (const SmClock& c : t.sms) residual = std::max(residual, c.residual_ns);
  EXPECT_NE(two.answers[2].answer.find(
                fmt::format("{:.1f} ± {:.1f} µs", static_cast<double>(last - first) * 1e-3, residual * 1e-3)),
            std::string::npos)
      << two.answers[2].answer;
  // Where nothing was recorded with one slot more nothing is told.
  const PipelineScene none = scene_of(all, recorded(all, 1024, 128, -1, 3));
  EXPECT_EQ(none.answers[1].answer,
            fmt::format("Not measured: no recording here has {} slots.", none.timeline->options.stages + 1));
}

// Without them exponentials would meet otherwise: no number is made up, and the page says why.
TEST(PipelineSceneTest, WhatTurnsBringIsNotDerivedAndTheReasonHasItsNumbers) {
  const TimelinesView all = bundled_timelines();
  std::size_t with_turns = 0;
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const Timeline& t = *all.all[n];
    const auto p = pipeline_of(t, detailed_blocks(t).front());
    ASSERT_TRUE(p);
    // By the states alone: what waits for a turn, and where two exponentials lie over each other.
    double waits = 0, together = 0, consumers = 0;
    std::vector<LaneInterval> exponentials;
    for (std::size_t l = 0; l < p->lanes.size(); ++l) {
      if (t.lanes[p->lanes[l]].kind != LaneKind::consumer) continue;
      ++consumers;
      for (const LaneInterval& i : p->intervals[l]) {
        const std::string& tag = t.tags[static_cast<std::size_t>(i.tag)];
        if (tag == "wait turn") waits += static_cast<double>(i.length());
        if (tag == "P") exponentials.push_back(i);
      }
    }
    const auto turns = turns_of(t, *p);
    const PipelineScene s = scene_of(all, n);
    EXPECT_EQ(turns.has_value(), waits > 0);
    EXPECT_EQ(s.words.find("The gain from turns cannot be derived") != std::string::npos, waits > 0) << s.words;
    if (!turns) continue;
    ++with_turns;
    if (consumers == 2)  // any two at once are a pair
      for (std::size_t a = 0; a < exponentials.size(); ++a)
        for (std::size_t b = a + 1; b < exponentials.size(); ++b)
          together +=
              static_cast<double>(std::max<std::int64_t>(0, std::min(exponentials[a].to, exponentials[b].to) -
                                                                std::max(exponentials[a].from, exponentials[b].from)));
    const auto length = static_cast<double>(p->length());
    EXPECT_NEAR(turns->waits, waits / (length * consumers), 1e-9);
    if (consumers == 2) {
      EXPECT_NEAR(turns->together, together / length, 1e-9);
    }
    EXPECT_NE(s.words.find("at once for " + time_share_text(turns->together) + " of the time"), std::string::npos)
        << s.words;
    EXPECT_NE(s.words.find("There is no recording without turns"), std::string::npos) << s.words;
  }
  EXPECT_GE(with_turns, 5U);
  // With a recording of the step before them it is measured.
  const std::size_t step3 = recorded(all, 1024, 128, -1, 3);
  Timeline step2 = *all.all[step3];
  for (Setting& setting : step2.options.further)
    if (setting.name == "step") setting.value = 2;
  step2.plain_us *= 1.05;
  TimelinesView both = all;
  both.all.push_back(std::make_shared<const Timeline>(step2));
  const PipelineScene s = scene_of(both, step3);
  EXPECT_NE(s.words.find("Measured: turns gain 4.8 %."), std::string::npos) << s.words;
  EXPECT_EQ(s.words.find("There is no recording without"), std::string::npos) << s.words;
}

// Two launches of one problem with the same options.
TEST(PipelineSceneTest, TwoTakesOfOneProblemHaveNamesOfTheirOwnAndOldLinksNameTheFirst) {
  TimelinesView all = bundled_timelines();
  Timeline again = *all.all[4];
  for (TimedBlock& b : again.blocks) b.start_clock += 1000, b.end_clock += 1000;
  for (TimelineEvent& e : again.events) e.at += 1000;
  all.all.push_back(std::make_shared<const Timeline>(again));
  const std::string first = id_of(*all.all[4]), second = id_of(again);
  EXPECT_NE(first, second);
  EXPECT_EQ(without_take(first), without_take(second));
  EXPECT_EQ(without_take(first).size(), 8U);
  ProfileView view;
  for (const auto& [name, expected] : {std::pair(first, 4U), {second, 21U}, {without_take(second), 4U}}) {
    view.timeline = name;
    EXPECT_EQ(timeline_shown(view, all, "flash_hopper", {}), all.all[expected]) << name;
  }
  const PipelineScene s = scene_of(all, 21);
  EXPECT_EQ(s.choices.size(), all.all.size());
  EXPECT_TRUE(s.choices[21].on);
  EXPECT_FALSE(s.choices[4].on);
  EXPECT_EQ(s.choices[21].words, s.choices[4].words + ", take 2");
  // Below the second stands the first, by its name or by that of an old link.
  for (const std::string& name : {first, without_take(first)}) {
    PipelineScene above = timeline_scene(all.all[21], all, "flash_hopper");
    put_beside(above, name, all);
    ASSERT_NE(above.beside, nullptr) << name;
    EXPECT_EQ(above.beside->timeline, all.all[4]);
  }
}

TEST(PipelineSceneTest, WhatWasMeasuredWithOtherNumbersOfSlotsIsToldOfEachOfThem) {
  const TimelinesView all = bundled_timelines();
  std::string expected;
  for (const int slots : {2, 3, 4})
    expected += fmt::format("{}{} slots {:.1f} µs", expected.empty() ? "" : ", ", slots,
                            all.all[recorded(all, 1024, 128, slots, 11)]->plain_us);
  for (const int slots : {2, 3, 4}) {
    const PipelineScene s = scene_of(all, recorded(all, 1024, 128, slots, 11));
    EXPECT_NE(s.words.find(expected), std::string::npos) << s.words;
  }
  const PipelineScene alone = scene_of(all, recorded(all, 1024, 128, -1, 3));
  EXPECT_EQ(alone.words.find("slots"), std::string::npos) << alone.words;
}

// A file that holds what came with the program as well.
TEST(PipelineSceneTest, ARecordingThatIsKnownTwiceIsOfferedOnce) {
  TimelinesView all = bundled_timelines();
  const std::size_t once = all.all.size();
  const std::vector twice(all.all.begin(), all.all.begin() + 3);
  all.all.insert(all.all.begin(), twice.begin(), twice.end());
  const PipelineScene s = scene_of(all, 0);
  EXPECT_EQ(s.choices.size(), once);
  EXPECT_EQ(std::ranges::count_if(s.choices, &PipelineScene::Choice::on), 1);
}

TEST(PipelineSceneTest, TwoOfOneProblemStandOnOneAxisFromTheSameProductOn) {
  const TimelinesView all = bundled_timelines();
  const std::size_t two = recorded(all, 1024, 128, 2, 11), three = recorded(all, 1024, 128, 3, 11);
  PipelineScene s = timeline_scene(all.all[two], all, "flash_hopper");
  put_beside(s, id_of(*all.all[three]), all);
  ASSERT_NE(s.beside, nullptr);
  ProfileView view;
  view.time_from_ns = 20000;
  view.time_to_ns = 26000;
  view.key_tile = 4;
  show_part(s, view);
  const auto first = std::ranges::lower_bound(s.issues, s.from);
  ASSERT_NE(first, s.issues.end());
  const auto nth = static_cast<std::size_t>(first - s.issues.begin());
  const auto share = [](const PipelineScene& x, std::int64_t at) {
    return static_cast<double>(at - x.from) / static_cast<double>(x.to - x.from);
  };
  EXPECT_NEAR(share(s, *first), share(*s.beside, s.beside->issues[nth]), 1e-3);
  EXPECT_NEAR(static_cast<double>(s.to - s.from) * s.ns_a_clock,
              static_cast<double>(s.beside->to - s.beside->from) * s.beside->ns_a_clock, 2);
  EXPECT_EQ(s.beside->follow, 4);
  EXPECT_NE(s.beside_words.find(fmt::format("the upper launch takes {:.1f} µs", all.all[two]->plain_us)),
            std::string::npos)
      << s.beside_words;
  // What consumers do in their key tiles is all of the time of those that compute.
  constexpr double kRowsOfConsumer = 64;
  double sum = 0;
  for (const auto& state : s.states) sum += state.ns;
  EXPECT_NEAR(sum * s.work / kRowsOfConsumer,
              static_cast<double>(s.length) * s.ns_a_clock * static_cast<double>(s.states_of.size()), 1);
  // Another problem, itself, or none of that name: nothing below.
  for (const std::string& id :
       {id_of(*all.all[recorded(all, 1024, 64, -1, -1)]), id_of(*all.all[two]), std::string("nobody")}) {
    PipelineScene alone = timeline_scene(all.all[two], all, "flash_hopper");
    put_beside(alone, id, all);
    EXPECT_EQ(alone.beside, nullptr);
    EXPECT_TRUE(alone.words.starts_with("Nothing is drawn below: ")) << alone.words;
  }
}

TEST(PipelineSceneTest, LanesOfWarpsHaveNoPathAndSayNothingOfWhatDecides) {
  TimelinesView all = bundled_timelines();
  Timeline t = *all.all.front();
  for (TimelineLane& lane : t.lanes) lane.kind = LaneKind::warp;
  const PipelineScene s = timeline_scene(std::make_shared<const Timeline>(t), all, "flash_hopper");
  ASSERT_TRUE(s.there) << s.empty;
  EXPECT_TRUE(s.path.empty());
  EXPECT_TRUE(s.shares.empty());
  EXPECT_FALSE(s.headline.empty());
  EXPECT_TRUE(s.answers.empty());
  EXPECT_NE(s.words.find("The recording does not say what ended each wait"), std::string::npos) << s.words;
}

TEST(PipelineSceneTest, ARecordingAboveItsPriceIsRefusedWithItsFigure) {
  TimelinesView all = bundled_timelines();
  Timeline dear = *all.all.front();
  dear.traced_us = 1.2 * dear.plain_us;
  const PipelineScene s = timeline_scene(std::make_shared<const Timeline>(dear), all, "flash_hopper");
  EXPECT_FALSE(s.there);
  EXPECT_NE(s.empty.find("1.200"), std::string::npos) << s.empty;
}

TEST(PipelineSceneTest, TheOneIsShownThatFitsBest) {
  const TimelinesView all = bundled_timelines();
  ProfileView view;
  EXPECT_EQ(timeline_shown(view, all, "flash_hopper", all.all[5]->problem), all.all[5]);
  EXPECT_EQ(timeline_shown(view, all, "flash_mma", all.all[5]->problem), all.all[0]);
  view.timeline = id_of(*all.all[3]);
  EXPECT_EQ(timeline_shown(view, all, "flash_hopper", all.all[5]->problem), all.all[3]);
  EXPECT_EQ(timeline_shown(view, {}, "flash_hopper", {}), nullptr);
  EXPECT_NE(timeline_scene(nullptr, {}, "").empty.find("Looking"), std::string::npos);
  // The strip speaks of what is shown, whatever kernel the other pages speak of.
  const PipelineScene other = timeline_scene(all.all[0], all, "flash_mma");
  EXPECT_TRUE(other.strip.starts_with("flash_hopper, L = 1024, D = 128")) << other.strip;
  EXPECT_NE(other.strip.find(time_text(all.all[0]->plain_us * 1000)), std::string::npos) << other.strip;
  EXPECT_TRUE(other.strip_words.starts_with("No launch of flash_mma was recorded")) << other.strip_words;
  EXPECT_TRUE(timeline_scene(all.all[0], all, "flash_hopper").strip_words.empty());
}

TEST(PipelineSceneTest, BlocksAreBandsByTheirEndWithTheirQueryTiles) {
  const TimelinesView all = bundled_timelines();
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
