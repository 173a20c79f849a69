// What is said of a bundled recording in words: its tail, how typical its block is, who sets the pace, its units.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/viz/profile/timeline/bundled_timelines.h"
#include "viz/profile/timeline/scene/timeline_scene.h"

namespace attn {
namespace {

PipelineScene scene_of_nth(const TimelinesView& all, std::size_t n) {
  return timeline_scene(all.all.at(n), all, "flash_hopper");
}

TEST(TimelineWords, TheTailNamesTheFirstAndTheLastSmAndHowLongItIs) {
  const TimelinesView all = bundled_timelines();
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const Timeline& t = *all.all[n];
    std::map<std::int32_t, std::int64_t> ends;
    for (const TimedBlock& b : t.blocks) ends[b.sm] = std::max(ends[b.sm], b.end_ns);
    const auto by_end = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [first, last] = std::ranges::minmax_element(ends, by_end);
    const double tail = static_cast<double>(last->second - first->second) * 1e-3;
    const std::string words = scene_of_nth(all, n).tail;
    EXPECT_NE(words.find(fmt::format("a tail of {:.1f} µs", tail)), std::string::npos) << words;
    EXPECT_NE(words.find(fmt::format(" last, at {:.1f} µs", static_cast<double>(last->second) * 1e-3)),
              std::string::npos)
        << words;
  }
  PipelineScene even = scene_of_nth(all, 0);
  for (BlockBand& b : even.bands) b.to_ns = even.launch_ns;
  EXPECT_NE(tail_words(even).find("no tail"), std::string::npos);
}

// The first block of a grid starts with cold caches and not for long: nothing else says how usual it is.
TEST(TimelineWords, ABlockIsHeldAgainstTheMedianOne) {
  const TimelinesView all = bundled_timelines();
  std::size_t untypical = 0;
  for (std::size_t n = 0; n < all.all.size(); ++n) {
    const Timeline& t = *all.all[n];
    std::vector<double> times;
    for (std::size_t b = 0; b < t.blocks.size(); ++b) {
      const auto sm = std::ranges::find(t.sms, t.blocks[b].sm, &SmClock::sm);
      times.push_back(static_cast<double>(t.blocks[b].end_clock - t.blocks[b].start_clock) * sm->ns_per_clock);
    }
    std::vector<double> sorted = times;
    std::ranges::sort(sorted);
    const double median = sorted[(sorted.size() - 1) / 2];
    // Of those that were recorded state by state, the nearest to it is shown.
    double own = 0;
    for (const std::int32_t row : detailed_blocks(t))
      if (std::fabs(times[static_cast<std::size_t>(row)] - median) < std::fabs(own - median))
        own = times[static_cast<std::size_t>(row)];
    const std::string words = scene_of_nth(all, n).words;
    const bool typical = std::fabs(own - median) <= 0.05 * median;
    EXPECT_NE(words.find(typical ? "is typical" : "is not typical"), std::string::npos) << words;
    EXPECT_NE(words.find(fmt::format("the median of {} blocks is {}", times.size(), time_text(median))),
              std::string::npos)
        << words << "; " << median;
    const std::string notes = scene_of_nth(all, n).notes;
    EXPECT_EQ(notes.find("To record the median block") != std::string::npos, !typical) << notes;
    untypical += typical ? 0 : 1;
  }
  EXPECT_GE(untypical, 1U);
}

TEST(TimelineWords, TimesHaveOneUnitRule) {
  EXPECT_EQ(time_text(940), "940 ns");
  EXPECT_EQ(time_text(9403), "9.40 µs");
  EXPECT_EQ(time_text(228702), "228.7 µs");
  EXPECT_EQ(tenths_text(988), "98.8 %");
  EXPECT_EQ(tenths_of(std::vector<std::int64_t>{1, 1, 1}), (std::vector<std::int32_t>{334, 333, 333}));
  EXPECT_EQ(tenths_of(std::vector<std::int64_t>{0, 7}), (std::vector<std::int32_t>{0, 1000}));
  EXPECT_EQ(tenths_of(std::vector<std::int64_t>{0, 0}), (std::vector<std::int32_t>{0, 0}));
}

TEST(TimelineWords, TwoPartsAboutAsLargeSetThePaceTogether) {
  using enum PathOf;
  EXPECT_EQ(pace_headline({{tensor_cores, 0.5, 500}, {work, 0.44, 440}}),
            "The tensor cores set the pace, for at most 50.0 % of the time.");
  EXPECT_EQ(pace_headline({{tensor_cores, 0.35, 350}, {work, 0.37, 370}, {copy_v, 0.14, 140}}),
            "Tensor cores (at most 35.0 %) and consumers' own instructions (37.0 %) set the pace together.");
  EXPECT_EQ(pace_headline({{tensor_cores, 0.309, 309},
                           {work, 0.308, 308},
                           {copy_k, 0.2, 200},
                           {copy_v, 0.1, 103},
                           {hand_over, 0.08, 80}}),
            "Tensor cores (at most 30.9 %), copies (at most 30.3 %) and consumers' own instructions (30.8 %) set the "
            "pace together.");
  EXPECT_EQ(pace_headline({{tensor_cores, 0.29, 290}, {work, 0.334, 334}, {copy_k, 0.2, 200}, {copy_v, 0.13, 130}}),
            "Copies (at most 33.0 %) and consumers' own instructions (33.4 %) set the pace together.");
  EXPECT_EQ(pace_headline({{work, 0.53, 530}, {copy_k, 0.1, 100}}),
            "The consumers' own instructions set the pace, for 53.0 % of the time.");
  EXPECT_EQ(pace_headline({{copy_k, 0.2, 200}, {copy_v, 0.4, 401}, {work, 0.3, 299}, {producer_work, 0.1, 100}}),
            "Copies set the pace, for at most 60.1 % of the time.");
  EXPECT_EQ(pace_headline({{copy_q, 0.5, 500}, {work, 0.4, 400}}),
            "Q sets the pace: it is in flight for at most 50.0 % of the time.");
  EXPECT_EQ(pace_headline({{producer_work, 0.5, 500}, {work, 0.4, 400}}),
            "The producer's own instructions set the pace, for 50.0 % of the time.");
}

}  // namespace
}  // namespace attn
