// What a change would gain, beside what it gained: on the bundled recordings with and without it, by their quartiles.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "profiling/timeline/what_if.h"
#include "tests/environment/asked.h"
#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/comparison.h"
#include "viz/profile/timeline/scene/recorded_panel.h"
#include "viz/profile/timeline/scene/shown_part.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

TimelinesView all_bundled() {
  return bundled_timelines({"h100-timeline", "h100-turns-timeline", "h100-warps-timeline"});
}

// With quartiles, full attention at L = 1024 and D = 128: the recording at that step with so many slots (0: any).
std::shared_ptr<const Timeline> with_quartiles(const TimelinesView& all, std::int64_t step, int slots) {
  for (const auto& t : all.all) {
    const auto has_step = [&](const Setting& s) { return s.name == "step" && s.value == step; };
    if (t->kernel == "flash_hopper" && t->problem.Lk == 1024 && t->problem.D == 128 && !t->problem.mask.causal &&
        t->plain_quartiles.q1 > 0 && std::ranges::any_of(t->options.further, has_step) &&
        (slots == 0 || t->options.stages == slots))
      return t;
  }
  ADD_FAILURE() << "no recording of step " << step;
  return all.all.front();
}

// The rule of agree(), written again.
void stands_beside(double derived, const Timeline& without, const Timeline& with) {
  const double measured = 1 - with.plain_us / without.plain_us;
  const double a = (without.plain_quartiles.q3 - without.plain_quartiles.q1) / without.plain_us,
               b = (with.plain_quartiles.q3 - with.plain_quartiles.q1) / with.plain_us;
  const double spread = with.plain_us / without.plain_us * std::sqrt(a * a + b * b);
  EXPECT_LE(std::fabs(derived - measured), std::max(0.02, 0.3 * std::fabs(measured))) << derived << " " << measured;
  if (std::fabs(measured) > 2 * spread) {
    EXPECT_GT(derived * measured, 0) << derived << " " << measured;
  }
  const PipelineScene s = timeline_scene(std::make_shared<const Timeline>(without), all_bundled(), without.kernel);
  std::string said = s.words;
  for (const auto& answer : s.answers) said += " " + answer.answer + " " + answer.why;
  const std::string told =
      derived <= -0.005 ? fmt::format("would lose {:.1f} %", -100 * derived) : "would gain " + gain_words(derived);
  EXPECT_NE(said.find(told + ". The measured gain is"), std::string::npos) << said;
  EXPECT_NE(said.find(fmt::format("{:.1f} % (quartile spread {:.1f} points)", 100 * std::fabs(measured), 100 * spread)),
            std::string::npos)
      << said;
}

// The block that the page shows.
Pipeline shown_block(const Timeline& t) {
  auto p = pipeline_of(t, most_usual_block(t, detailed_blocks(t)));
  EXPECT_TRUE(p);
  return p ? *p : Pipeline();
}

TEST(TimelineGains, OfAThirdSlotOfTurnsAndOfPersistenceStandBesideWhatWasMeasured) {
  const TimelinesView all = all_bundled();
  const auto two = with_quartiles(all, 11, 2), three = with_quartiles(all, 11, 3);
  const auto third = with_slots(*two, shown_block(*two), 3);
  ASSERT_TRUE(third);
  stands_beside(1 - third->share, *two, *three);
  EXPECT_FALSE(with_slots(*three, shown_block(*three), 4)) << "consumers wait for Q more than for what a slot brings";
  const auto free = with_quartiles(all, 2, 0), in_turns = with_quartiles(all, 3, 0);
  const auto turns = with_turns(*free, shown_block(*free));
  ASSERT_TRUE(turns);
  stands_beside(1 - turns->share, *free, *in_turns);
  const auto blocks = with_quartiles(all, 6, 0), stay = with_quartiles(all, 7, 0);
  const auto then = with_blocks_that_stay(*blocks, shown_block(*blocks));
  ASSERT_TRUE(then);
  stands_beside(1 - *then, *blocks, *stay);
  EXPECT_GT(1 - *then, 0.05);
}

TEST(TimelineGains, AgreeWithin2PointsOr30PercentAndInSignBeyondTheSpread) {
  EXPECT_TRUE(agree(0.11, {0.09, 0.005}));
  EXPECT_FALSE(agree(0.13, {0.09, 0.005}));
  EXPECT_TRUE(agree(0.25, {0.2, 0.005}));
  EXPECT_FALSE(agree(0.27, {0.2, 0.005}));
  EXPECT_TRUE(agree(-0.001, {0.004, 0.003})) << "within the runs' spread there is no sign";
  EXPECT_FALSE(agree(-0.001, {0.007, 0.003}));
  EXPECT_TRUE(agree(0.001, {0.007, 0.003}));
  EXPECT_FALSE(agree(-0.006, {0.007, {}})) << "without quartiles every gain has its sign";
  EXPECT_EQ(measured_words({0.0888, {}}), "8.9 %");
  EXPECT_EQ(measured_words({-0.0041, 0.0029}), "0.4 % lost (quartile spread 0.3 points)");
}

// Another card's time is no measured gain; and with no quartiles none is told.
TEST(TimelineGains, AreOfOneCardAndSaySpreadsOnlyWhereTheFileHasThem) {
  const TimelinesView all = all_bundled();
  const auto two = with_quartiles(all, 11, 2), three = with_quartiles(all, 11, 3);
  const auto gain = [&](Timeline other) {
    TimelinesView view;
    view.all = {two, std::make_shared<const Timeline>(std::move(other))};
    return slot_gain(*two, shown_block(*two), view);
  };
  EXPECT_TRUE(gain(*three).measured->spread);
  Timeline other = *three;
  other.device_uuid = "another";
  EXPECT_FALSE(gain(other).measured);
  other = *three;
  other.plain_quartiles = {};
  EXPECT_FALSE(gain(other).measured->spread);
  other.plain_us = 1.1 * two->plain_us;
  const SlotGain lost = gain(other);
  EXPECT_TRUE(lost.disagree);
  EXPECT_FALSE(lost.derived);
}

// What the SMs said of the launch and what the profiler's time stamps did; and what recording costs.
TEST(TimelineGains, EveryLaunchTakesWhatItsBlocksTakeAndRecordingCostsLessThanEightPercent) {
  for (const auto& t : all_bundled().all) {
    std::int64_t first = t->blocks.front().start_ns, last = 0;
    for (const TimedBlock& b : t->blocks) first = std::min(first, b.start_ns), last = std::max(last, b.end_ns);
    const double span = static_cast<double>(last - first) * 1e-3;
    EXPECT_NEAR(span, t->launch_us, 0.02 * t->launch_us + 2) << id_of(*t);
    EXPECT_LE(t->traced_us, 1.08 * t->plain_us) << id_of(*t);
    for (const auto& [q, median] : {std::pair(t->plain_quartiles, t->plain_us), {t->traced_quartiles, t->traced_us}}) {
      EXPECT_TRUE(q.q1 <= 0 || (q.q1 <= median && median <= q.q3)) << id_of(*t);
    }
  }
}

// Turning one thing off changes the picture as the words say.
TEST(TimelineGains, WithoutTurnsNobodyWaitsForOneAndExponentialsMeetMoreOften) {
  const TimelinesView all = all_bundled();
  const auto free = with_quartiles(all, 2, 0), in_turns = with_quartiles(all, 3, 0);
  ASSERT_EQ(detailed_blocks(*free).size(), 8U);
  ASSERT_EQ(detailed_blocks(*in_turns).size(), 8U);
  const auto time_of = [](const Timeline& t, const std::string& tag) {
    const Pipeline p = shown_block(t);
    double sum = 0;
    for (const auto& lane : p.intervals)
      for (const LaneInterval& i : lane)
        if (t.tags[static_cast<std::size_t>(i.tag)] == tag) sum += static_cast<double>(i.length());
    return sum;
  };
  EXPECT_EQ(time_of(*free, "wait turn"), 0);
  EXPECT_GT(time_of(*in_turns, "wait turn"), 0);
  EXPECT_GT(time_of(*free, "P"), time_of(*in_turns, "P")) << "exponentials that meet take longer";
  const PipelineScene s = timeline_scene(in_turns, all, in_turns->kernel);
  EXPECT_NE(s.words.find("Measured: turns gain"), std::string::npos) << s.words;
  EXPECT_NE(s.words.find("is typical"), std::string::npos) << s.words;
  EXPECT_EQ(s.blocks.size(), 8U);
  EXPECT_NE(s.notes.find("8 of 2048 blocks were recorded"), std::string::npos) << s.notes;
}

// With a third consumer there is a lane more, and with blocks that stay one block an SM, with nothing between.
TEST(TimelineGains, WithoutAThirdConsumerOrPersistenceThePictureIsAnother) {
  const TimelinesView all = all_bundled();
  const auto lanes = [&](const Timeline& t) {
    const Pipeline p = shown_block(t);
    return std::ranges::count_if(p.lanes, [&](std::size_t l) { return t.lanes[l].kind == LaneKind::consumer; });
  };
  EXPECT_EQ(lanes(*with_quartiles(all, 3, 0)), 2);
  EXPECT_EQ(lanes(*with_quartiles(all, 6, 0)), 3);
  const auto blocks = timeline_scene(with_quartiles(all, 6, 0), all, "flash_hopper"),
             stay = timeline_scene(with_quartiles(all, 7, 0), all, "flash_hopper");
  EXPECT_EQ(blocks.bands.size(), 16U * 16 * 6);
  EXPECT_EQ(stay.bands.size(), 132U);
  const auto most_of_an_sm = [](const PipelineScene& s) {
    std::map<std::int32_t, int> of;
    int most = 0;
    for (const BlockBand& b : s.bands) most = std::max(most, ++of[b.sm]);
    return most;
  };
  EXPECT_EQ(most_of_an_sm(stay), 1);
  EXPECT_GT(most_of_an_sm(blocks), 10);
}

// Those of several kernels are in one list, and no two have the same words.
TEST(TimelineGains, EveryRecordingHasANameOfItsOwn) {
  const TimelinesView all = all_bundled();
  const PipelineScene s = timeline_scene(all.all.front(), all, "flash_mma");
  EXPECT_EQ(s.choices.size(), 28U);
  for (const auto& c : s.choices) {
    EXPECT_EQ(std::ranges::count(s.choices, c.words, &PipelineScene::Choice::words), 1) << c.words;
    EXPECT_TRUE(c.words.starts_with("flash_")) << c.words;
  }
  EXPECT_TRUE(s.of_other_kernel);
  EXPECT_TRUE(s.strip_words.empty()) << "the strip begins with the kernel of the recording";
  EXPECT_NE(s.notes.find("visited from the last tile to the first"), std::string::npos) << s.notes;
  EXPECT_NE(s.notes.find("K and V share the 4 slots of the ring"), std::string::npos) << s.notes;
}

// The headline of two says what sets them apart, and who ends sooner: or that nothing does, where the quartiles of both
// leave that open.
TEST(Verdict, OfTwoSaysWhatDiffersAndWhoEndsSooner) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline"});
  const auto verdict = [&](const auto& above, const auto& below) {
    PipelineScene s = timeline_scene(above, all, "flash_hopper");
    put_beside(s, id_of(*below), all);
    EXPECT_NE(s.beside, nullptr);
    show_part(s, {});
    return verdict_of(s);
  };
  const auto two = with_quartiles(all, 11, 2), three = with_quartiles(all, 11, 3), off = with_quartiles(all, 2, 0),
             on = with_quartiles(all, 3, 0);
  ASSERT_TRUE(two && three && off && on);
  // The difference of the numbers as they are shown.
  const auto shown = [](double us) { return std::stod(fmt::format("{:.1f}", us)); };
  const double sooner = two->plain_us - three->plain_us, told = shown(two->plain_us) - shown(three->plain_us);
  EXPECT_EQ(verdict(two, three),
            fmt::format("Above 2 slots, below 3 slots: without the recorder, below ends {:.1f} µs ({:.1f} %) sooner.",
                        told, 100 * sooner / two->plain_us));
  EXPECT_EQ(verdict(three, two),
            fmt::format("Above 3 slots, below 2 slots: without the recorder, below ends {:.1f} µs ({:.1f} %) later.",
                        told, 100 * sooner / three->plain_us));
  EXPECT_EQ(verdict(off, on),
            fmt::format("Above turns off, below turns on: no difference without the recorder ({:.1f} and {:.1f} µs).",
                        off->plain_us, on->plain_us));
}

// From the product at which both are aligned to the last one in sight of both. As in the headline, less than twice what
// the quartiles of both leave open is no difference.
TEST(Verdict, SaysHowFarTheLowerOneIsAheadInSight) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline"});
  PipelineScene s = timeline_scene(with_quartiles(all, 11, 2), all, "flash_hopper");
  put_beside(s, id_of(*with_quartiles(all, 11, 3)), all);
  ASSERT_NE(s.beside, nullptr);
  const auto spread = [](const Timeline& t) { return (t.plain_quartiles.q3 - t.plain_quartiles.q1) / t.plain_us; };
  const double open = 2 * std::hypot(spread(*s.timeline), spread(*s.beside->timeline));
  std::map<std::string, int> said;
  int uneven = 0;
  for (std::int64_t from = 20000; from < 200000; from += 6000) {
    ProfileView view;
    view.time_from_ns = from;
    view.time_to_ns = from + 12000;
    show_part(s, view);
    std::vector<double> above, below;  // ns from the product at which they are aligned
    const auto first = std::ranges::lower_bound(s.issues, s.from) - s.issues.begin();
    for (const auto& [scene, times] : {std::pair(&s, &above), std::pair(&*s.beside, &below)})
      for (auto at = scene->issues.begin() + first; at < scene->issues.end() && *at < scene->to; ++at)
        times->push_back(static_cast<double>(*at) * scene->ns_a_clock);
    const std::size_t last = std::min(above.size(), below.size()) - 1;
    ASSERT_GT(last, 0U);
    const double sooner = (above[last] - above[0]) - (below[last] - below[0]),
                 share = std::fabs(sooner) / (above[last] - above[0]);
    const auto ahead = ahead_of(s);
    ASSERT_TRUE(ahead);
    EXPECT_EQ(ahead->tiles, last);
    EXPECT_NEAR(ahead->above_ns - ahead->below_ns, sooner, 1e-6);
    EXPECT_NEAR(static_cast<double>(ahead->above) * s.ns_a_clock, above[last], 1e-6);
    EXPECT_NEAR(static_cast<double>(ahead->below) * s.beside->ns_a_clock, below[last], 1e-6);
    if (last < 2) continue;
    const std::string by = time_text(std::fabs(sooner)), way = sooner > 0 ? "less" : "more";
    const std::string words =
        share <= open ? fmt::format("In these two blocks, the {} key tiles in sight: as long, {} apart", last, by)
                      : fmt::format("In these two blocks, the {} key tiles in sight: {} ({:.1f} %) {} below", last, by,
                                    100 * share, way);
    const bool equal = ahead->above_work == ahead->below_work;
    uneven += !equal;
    if (!equal) {
      const double more = ahead->below_ns / ahead->below_work * ahead->above_work / ahead->above_ns - 1;
      const std::string per_row =
          fmt::format("per row {:.1f} % {} below", 100 * std::fabs(more), more > 0 ? "more" : "less");
      const std::string told = ahead_words(s, *ahead).forms.front().measured;
      EXPECT_TRUE(told.find(per_row) != std::string::npos || std::fabs(more) <= open) << told;
      continue;
    }
    const std::string told = ahead_words(s, *ahead).forms.front().measured;
    EXPECT_EQ(told, words);
    ++said[share <= open ? "as long" : way];
  }
  EXPECT_EQ(said.size(), 3U);
  EXPECT_GT(uneven, 0);
}

// Of a block that is not typical no key tile is told, in words or in the panel: it may hold one alone.
void expect_key_tiles_of_typical_blocks(const PipelineScene& s) {
  const bool typical = s.typical && s.beside->typical;
  EXPECT_EQ(s.beside_words.find("A key tile takes") != std::string::npos, typical) << s.beside_words;
  // Where a bracket compares some, no sentence denies it.
  const bool bracket = ahead_of(s).has_value();
  const auto says = [&](const char* words) { return s.beside_words.find(words) != std::string::npos; };
  EXPECT_EQ(says("so key tiles are not compared."), !typical && !bracket) << s.beside_words;
  EXPECT_EQ(says("so the bracket speaks of these two blocks alone."), !typical && bracket) << s.beside_words;
  for (const auto& [half, where] : {std::pair(&s, "above"), std::pair(&std::as_const(*s.beside), "below")}) {
    const std::string named = fmt::format("Block {} {} is not typical", half->block, where);
    EXPECT_FALSE(half->typical && s.beside_words.find(named) != std::string::npos) << s.beside_words;
  }
  const RecordedPanel panel = recorded_panel(s);
  const bool told = std::ranges::any_of(panel.tables, [](const auto& table) { return table.title.starts_with("Key"); });
  EXPECT_EQ(told, typical);
}

// Every sentence that compares names what it compares: the times without the recorder, or those of the recordings.
TEST(Verdict, OfTwoNamesTheBasisOfEachComparison) {
  const TimelinesView all = bundled_timelines({"h100-timeline", "h100-turns-timeline"});
  std::size_t pairs = 0, n = 0, typical = 0;
  for (const auto& above : all.all) {
    const PipelineScene alone = timeline_scene(above, all, "flash_hopper");
    for (const auto& below : all.all) {
      if (test::left_to_release(n++, 7)) continue;
      PipelineScene s = alone;
      put_beside(s, id_of(*below), all);
      if (s.beside == nullptr) continue;
      ++pairs;
      show_part(s, {});
      EXPECT_NE(verdict_of(s).find("without the recorder"), std::string::npos) << verdict_of(s);
      const bool one_card = above->device_uuid == below->device_uuid;
      EXPECT_EQ(verdict_of(s).find("on two GPUs of one kind") == std::string::npos, one_card) << verdict_of(s);
      expect_key_tiles_of_typical_blocks(s);
      typical += s.typical && s.beside->typical;
      if (const auto ahead = ahead_of(s)) {
        EXPECT_TRUE(ahead_words(s, *ahead).forms.front().measured.starts_with("In these two blocks, "));
      }
      // As both numbers are shown.
      const auto us = [](const PipelineScene& x) { return std::stod(fmt::format("{:.1f}", x.launch_ns * 1e-3)); };
      const double later = 1e3 * (us(*s.beside) - us(s));
      const std::string ends = ends_words(s, *s.beside);
      EXPECT_TRUE(ends.starts_with("in these recordings, ")) << ends;
      EXPECT_NE(ends.find(fmt::format(" {:.1f} µs", std::fabs(later) * 1e-3)), std::string::npos) << ends;
      if (ends.find("apart") == std::string::npos) {
        EXPECT_EQ(ends.find("later") != std::string::npos, later > 0) << ends;
      } else {
        EXPECT_LT(std::fabs(later) / s.launch_ns, 0.03) << ends;
      }
      // One rule says whether two launches differ.
      EXPECT_EQ(verdict_of(s).find("no difference") != std::string::npos,
                s.beside_words.find("Without the recorder") == std::string::npos)
          << verdict_of(s) << " " << s.beside_words;
    }
  }
  EXPECT_GT(pairs, 5U);
  EXPECT_GT(typical, 0U);
  EXPECT_LT(typical, pairs);
}

// A block far from the median speaks of itself alone.
TEST(Verdict, OfABlockThatIsNotTypicalSaysSo) {
  const TimelinesView all = bundled_timelines({"h100-timeline"});
  std::size_t typical = 0, other = 0;
  for (const auto& t : all.all) {
    const PipelineScene s = timeline_scene(t, all, "flash_hopper");
    std::vector<std::int64_t> times;
    for (const TimedBlock& b : t->blocks) times.push_back(b.end_ns - b.start_ns);
    std::ranges::sort(times);
    const auto median = static_cast<double>(times[(times.size() - 1) / 2]);
    const double off = std::fabs(static_cast<double>(s.length) * s.ns_a_clock / median - 1);
    const bool says = verdict_of(s).find("not typical") != std::string::npos;
    if (off < 0.03 || off > 0.08) {
      EXPECT_EQ(says, off > 0.08) << verdict_of(s);
    }
    (says ? other : typical) += 1;
    EXPECT_NE(verdict_of(s).find(s.headline), std::string::npos);
  }
  EXPECT_GT(typical, 0U);
  EXPECT_GT(other, 0U);
}

}  // namespace
}  // namespace attn
