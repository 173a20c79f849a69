// Counters over time: means by the time that samples share with launches, what repeats, when the blocks run out.
#include "profiling/figures/heartbeat.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

namespace attn {
namespace {

constexpr double kPi = 3.14159265358979;

// Samples of 10 us each from -10 us on, with these values of one counter.
Heartbeat beats(std::vector<double> values, std::vector<BeatLaunch> launches, std::string id = "fma") {
  Heartbeat h;
  h.launches = std::move(launches);
  for (std::size_t n = 0; n < values.size(); ++n) {
    const auto start = static_cast<std::int64_t>(n) * 10000 - 10000;
    h.samples.push_back({start, start + 10000});
  }
  h.counters = {{std::move(id), "a__metric", "", std::move(values)}};
  return h;
}

// 400 samples of 1 us each, `f` of the time in us.
template <class F>
Heartbeat wave(F f, std::string id = "xu") {
  Heartbeat h;
  h.launches = {{"k", 0, 400}};
  std::vector<double> values;
  for (int n = 0; n < 400; ++n) {
    h.samples.push_back({n * 1000, n * 1000 + 1000});
    values.push_back(f(n + 0.5));
  }
  h.counters = {{std::move(id), "a__metric", "", std::move(values)}};
  return h;
}

TEST(Heartbeat, AMeanWeighsEachSampleByTheTimeItSharesWithTheLaunches) {
  // The run is 15 us: the first sample is before it, of the last but one half.
  const Heartbeat h = beats({100, 40, 10, 100}, {{"k", 0, 15}});
  EXPECT_DOUBLE_EQ(*mean_of(h, h.counters[0]), (40 * 10 + 10 * 5) / 15.0);
  EXPECT_DOUBLE_EQ(*mean_between(h, h.counters[0], 10, 15), 10);
  EXPECT_FALSE(mean_between(h, h.counters[0], 100, 200)) << "no sample is there";
}

TEST(Heartbeat, WhatLiesBetweenTwoLaunchesIsNotInTheMean) {
  const Heartbeat h = beats({0, 50, 7, 20, 0}, {{"a", 0, 10}, {"b", 20, 30}});
  EXPECT_DOUBLE_EQ(*mean_of(h, h.counters[0]), 35);
}

// Programmatic dependent launch.
TEST(Heartbeat, WhereOneLaunchStartsEarlyTheTimeCountsOnce) {
  const Heartbeat h = beats({0, 50, 20, 0}, {{"a", 0, 10}, {"b", 5, 20}});
  EXPECT_DOUBLE_EQ(*mean_of(h, h.counters[0]), 35);
  EXPECT_EQ(busy_us(h), 20);
  EXPECT_EQ(busy_us(h, "b"), 15) << "each keeps its own";
  EXPECT_EQ(beats({0}, {{"a", 0, 20}, {"b", 5, 10}}).length_us(), 20) << "the last to start ends first";
}

TEST(Heartbeat, AStripHoldsTheMeansOfEqualPartsAndNothingWhereNoSampleIs) {
  Heartbeat h = beats({0, 10, 20, 30, 40}, {{"k", 0, 40}});
  const auto strip = strip_of(h, h.counters[0], 2);
  ASSERT_EQ(strip.size(), 2U);
  EXPECT_DOUBLE_EQ(strip[0], 15);
  EXPECT_DOUBLE_EQ(strip[1], 35);
  h.samples[4] = {100000, 110000};
  EXPECT_TRUE(std::isnan(strip_of(h, h.counters[0], 4)[3]));
  const auto fine = strip_of(h, h.counters[0], 8);
  EXPECT_DOUBLE_EQ(fine[0], 10) << "a sample is longer than a part";
  EXPECT_DOUBLE_EQ(fine[1], 10);
}

TEST(Heartbeat, AScaleHoldsTheValuesAndPerCentEndsAtAHundred) {
  const auto scale = [](const char* id, double value) { return scale_of({id, "m", "", {0, value}}); };
  EXPECT_EQ(scale("fma", 0), 1);
  EXPECT_EQ(scale("fma", 1), 1);
  EXPECT_EQ(scale("fma", 1.1), 1.5);
  EXPECT_EQ(scale("fma", 4.1), 5);
  EXPECT_EQ(scale("fma", 50.2), 60);
  EXPECT_EQ(scale("fma", 99), 100);
  EXPECT_EQ(scale("fma", 103), 100);
  EXPECT_EQ(scale("clock", 1755), 2000);
  EXPECT_EQ(scale("clock", 2030), 2500);
}

TEST(Heartbeat, TheSampleAtATimeIsTheOneThatSpansIt) {
  const Heartbeat h = beats({0, 1, 2}, {{"k", 0, 20}});
  EXPECT_EQ(sample_at(h, -5), 0U);
  EXPECT_EQ(sample_at(h, 0), 1U);
  EXPECT_EQ(sample_at(h, 19), 2U);
  EXPECT_FALSE(sample_at(h, 21));
  EXPECT_FALSE(sample_at(h, -11));
}

TEST(Heartbeat, ABeatIsFoundAtItsDistanceAndNotAtTwice) {
  const Heartbeat h = wave([](double us) { return 30 + 20 * std::sin(2 * kPi * us / 12.5); });
  const auto beat = beat_of(h);
  ASSERT_TRUE(beat);
  EXPECT_NEAR(beat->period_us, 12.5, 0.1);
  EXPECT_GT(beat->likeness, 0.9);
  EXPECT_NEAR(beat->count, 32, 0.3);
  EXPECT_EQ(beat->id, "xu");
}

TEST(Heartbeat, NeitherNoiseNorASlopeIsABeat) {
  std::uint64_t state = 7;
  const auto noise = [&](double) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 40U) / (1 << 24);
  };
  EXPECT_FALSE(beat_of(wave(noise)));
  EXPECT_FALSE(beat_of(wave([](double us) { return us; })));
  EXPECT_FALSE(beat_of(wave([](double) { return 5.0; })));
  EXPECT_FALSE(beat_of(wave([](double us) { return 0.5 + 0.4 * std::sin(2 * kPi * us / 12.5); }))) << "hardly used";
  EXPECT_FALSE(beat_of(wave([](double us) { return std::fmod(us, 3) < 1 ? 9.0 : 1.0; }))) << "three samples a beat";
  EXPECT_FALSE(beat_of(wave([](double us) { return std::sin(us); }, "dram_read"))) << "DRAM beats with no tile";
}

TEST(Heartbeat, TheTailIsWhereTooFewMultiprocessorsWorkUntilTheEnd) {
  // A dip in the middle is no tail; the last sample reaches beyond the launch.
  const Heartbeat h = beats({0, 100, 40, 100, 80, 30, 10}, {{"k", 0, 55}}, "sms");
  const auto tail = tail_of(h);
  ASSERT_TRUE(tail);
  EXPECT_DOUBLE_EQ(tail->from_us, 30);
  EXPECT_DOUBLE_EQ(tail->share, 25.0 / 55);
  EXPECT_FALSE(tail_of(beats({1, 2}, {{"k", 0, 10}}, "fma"))) << "the chip does not count it";
  EXPECT_DOUBLE_EQ(tail_of(beats({0, 100, 100}, {{"k", 0, 20}}, "sms"))->share, 0);
  EXPECT_DOUBLE_EQ(tail_of(beats({0, 100, 100, 60}, {{"k", 0, 30}}, "sms"))->share, 0) << "the launch's edge";
}

TEST(Heartbeat, OfSeveralLaunchesTheCostliestTailIsTold) {
  // Of the longer one 20 of 50 us at 80 %: 4 us; of the shorter one 20 of 40 us at 50 %: 10 us.
  const Heartbeat h = beats({0, 100, 100, 100, 80, 80, 100, 100, 50, 50}, {{"a", 0, 50}, {"b", 50, 90}}, "sms");
  const auto tail = tail_of(h);
  ASSERT_TRUE(tail);
  EXPECT_EQ(tail->launch, 1U);
  EXPECT_DOUBLE_EQ(tail->empty, 0.25);
}

TEST(Heartbeat, LostSamplesAreSeenAtBothEndsAndBetween) {
  const std::vector<BeatSpan> whole{{-500, 1000}, {1000, 2000}, {2032, 3100}};
  EXPECT_EQ(what_is_lost(whole, 3), "");
  EXPECT_NE(what_is_lost({}, 3), "");
  const auto lost = [](std::vector<BeatSpan> s) { return what_is_lost(s, 3); };
  EXPECT_NE(lost({{100, 1000}, {1000, 3100}}).find("first 0.1 µs"), std::string::npos);
  EXPECT_NE(lost({{-1, 1000}, {1000, 2000}}).find("last 1.0 µs"), std::string::npos);
  EXPECT_NE(lost({{-1, 1000}, {2000, 3100}}).find("1.0 µs between"), std::string::npos);
}

TEST(Heartbeat, KeepsThreeDigitsOfAValue) {
  EXPECT_DOUBLE_EQ(three_digits(45.678), 45.7);
  EXPECT_DOUBLE_EQ(three_digits(0.012345), 0.0123);
  EXPECT_DOUBLE_EQ(three_digits(1754.9), 1750);
  EXPECT_EQ(three_digits(0), 0);
  EXPECT_EQ(three_digits(std::nan("")), 0);
}

}  // namespace
}  // namespace attn
