// How often a run is read, and what a profiler's answer must hold to be a heartbeat.
#include "profiling/measure/gpu/beat_on_gpu.h"

#include <cmath>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(BeatPlan, AShortRunIsReadEveryMicrosecondAndALongOneEveryTwenty) {
  EXPECT_EQ(beat_plan(27).interval, 1000);
  EXPECT_EQ(beat_plan(2600).interval, 1300);
  EXPECT_EQ(beat_plan(30000).interval, 15000);
  EXPECT_EQ(beat_plan(99000).interval, 20000);
  EXPECT_EQ(beat_plan(600000).interval, 100000) << "6000 samples are enough";
  for (const double us : {1.0, 27.0, 2600.0, 99000.0, 6e6}) {
    const BeatPlan plan = beat_plan(us);
    EXPECT_GT(static_cast<double>(plan.most_samples) * static_cast<double>(plan.interval), 1200 * us) << us;
    EXPECT_LT(plan.most_samples, 9000U) << us;
    EXPECT_EQ(slower(plan).interval, 2 * plan.interval);
  }
}

TEST(BeatPlan, HasRoomForTheRunThatWarmsTheCache) {
  const BeatPlan plan = beat_plan(99000, L2State::warm);
  EXPECT_EQ(plan.interval, beat_plan(99000).interval);
  EXPECT_GT(static_cast<double>(plan.most_samples) * static_cast<double>(plan.interval), 2.2 * 99000 * 1000);
}

// A kernel of 20 us that begins at 1 ms of the GPU's clock; all counters but the second.
Beats beats() {
  Beats b;
  b.chip = "GX999";
  b.kernels = {{"k", 1000000, 1020000}};
  for (std::size_t n = 0; n < beat_table().size(); ++n) b.names.emplace_back(n == 1 ? "" : "a__metric");
  for (std::uint64_t n = 0; n < 4; ++n) {
    BeatSample s{990000 + n * 10000, 1000000 + n * 10000, {}};
    for (std::size_t i = 1; i < beat_table().size(); ++i) s.values.push_back(static_cast<double>(i) * 1.23456);
    b.samples.push_back(std::move(s));
  }
  return b;
}

TEST(HeartbeatOf, CountsFromTheFirstLaunchAndGivesEachCounterItsOwnValues) {
  const auto h = heartbeat_of(beats());
  ASSERT_TRUE(h) << h.error().message;
  EXPECT_EQ(h->samples.front(), (BeatSpan{-10000, 0}));
  EXPECT_EQ(h->launches.front(), (BeatLaunch{"k", 0, 20}));
  ASSERT_EQ(h->counters.size(), beat_table().size());
  EXPECT_EQ(h->counters[0].id, "issue");
  EXPECT_DOUBLE_EQ(h->counters[0].values[2], 1.23);
  EXPECT_TRUE(h->counters[1].values.empty());
  EXPECT_NE(h->counters[1].why_not.find("GX999"), std::string::npos);
  EXPECT_DOUBLE_EQ(h->counters[2].values[2], 2.47) << "the value behind the one that is not there";
  EXPECT_DOUBLE_EQ(h->counters.back().values[0], 1.11e-5) << "Hz as MHz";
}

TEST(HeartbeatOf, WhatIsNoNumberIsNoValue) {
  Beats b = beats();
  b.samples[2].values[0] = std::nan("");
  const auto h = heartbeat_of(b);
  ASSERT_TRUE(h) << h.error().message;
  EXPECT_TRUE(h->counters[0].values.empty());
  EXPECT_FALSE(h->counters[0].why_not.empty());
  EXPECT_FALSE(h->counters[2].values.empty());
}

TEST(HeartbeatOf, WhatIsLostIsAnError) {
  const auto words = [](const Beats& b) {
    const auto h = heartbeat_of(b);
    return h ? std::string("a heartbeat") : h.error().message;
  };
  Beats b = beats();
  b.overflow = true;
  EXPECT_NE(words(b).find("buffer overflowed"), std::string::npos) << words(b);
  b = beats();
  b.samples.erase(b.samples.begin() + 1);
  EXPECT_NE(words(b).find("lost"), std::string::npos) << words(b);
  b = beats();
  b.samples.resize(1);
  EXPECT_NE(words(b).find("lost"), std::string::npos) << words(b);
  b = beats();
  b.samples[1].start_ns -= 32;
  EXPECT_EQ(words(b), "a heartbeat") << "a tick of the timer";
  b.samples[1].start_ns -= 100;
  EXPECT_NE(words(b).find("samples overlap"), std::string::npos) << words(b);
  b = beats();
  b.kernels.clear();
  EXPECT_NE(words(b).find("timestamp"), std::string::npos) << words(b);
}

}  // namespace
}  // namespace attn
