// The borders of S, P and O in a beat: found where the samples carry them, and refused with the figures where not.
#include "profiling/figures/beat_borders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "profiling/session/session.h"
#include "tests/environment/paths.h"

namespace attn {
namespace {

constexpr double kPeriod = 16.3, kS = 0.5, kP = 0.125;  // S to 0.5, P to 0.625, O to the end

struct Made {
  double sample_us = 1, jitter_us = 0;  // how far a beat may stand from its place
  bool flat = false;                    // nothing but noise
};

// Sixty beats that begin at 5 us; noise of 2 %.
Heartbeat made(const Made& how) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 2), shift(0, how.jitter_us > 0 ? how.jitter_us : 1);
  Heartbeat h;
  constexpr double kLength = 60 * kPeriod;
  h.launches.push_back({"flash_simt", 0, kLength});
  for (const char* id : {"issue", "fma", "xu", "shared"}) h.counters.push_back({id, id, "", {}});
  for (double us = 0; us < kLength; us += how.sample_us) {
    h.samples.push_back({static_cast<std::int64_t>(us * 1000), static_cast<std::int64_t>((us + how.sample_us) * 1000)});
    const double moved = how.jitter_us > 0 ? shift(random) : 0;
    const double at = std::fmod((us + how.sample_us / 2 - 5 + moved + 100 * kPeriod) / kPeriod, 1.0);
    const bool s = at < kS, p = !s && at < kS + kP;
    const auto value = [&](double in_s, double in_p, double in_o) {
      const double base = how.flat ? 40 : s ? in_s : p ? in_p : in_o;
      return std::clamp(base + noise(random), 0.0, 100.0);
    };
    h.counters[0].values.push_back(value(70, 55, 62));
    h.counters[1].values.push_back(value(63, 35, 48));
    h.counters[2].values.push_back(value(1, 33, 0));
    h.counters[3].values.push_back(value(46, 31, 55));
  }
  return h;
}

TEST(BeatBorders, StandWhereTheBeatWasMadeToChange) {
  const auto b = borders_of(made({}));
  ASSERT_TRUE(b) << b.error().message;
  const double sample = 1 / kPeriod;  // what a border is good to
  EXPECT_NEAR(b->period_us, kPeriod, 0.05);
  EXPECT_EQ(b->parts[0].phase, gpu::CodePhase::s);
  EXPECT_EQ(b->parts[2].phase, gpu::CodePhase::o);
  EXPECT_NEAR(b->parts[0].to, kS, sample);
  EXPECT_NEAR(b->parts[1].to, kS + kP, sample);
  EXPECT_NEAR(b->parts[1].xu, 33, 8);
  EXPECT_NEAR(b->parts[0].fma, 63, 4);
  // The first S begins at 5 us and a whole number of beats.
  const double off = std::fmod(b->first_us - 5 + 100 * kPeriod, kPeriod);
  EXPECT_LT(std::min(off, kPeriod - off), 1.2) << b->first_us;
}

TEST(BeatBorders, AreRefusedWithTheIntervalWhereABeatHasTooFewSamples) {
  const auto b = borders_of(made({4}));
  ASSERT_FALSE(b);
  EXPECT_NE(b.error().message.find("a sample 4 µs"), std::string::npos) << b.error().message;
}

TEST(BeatBorders, AreRefusedWhereBlocksAreOutOfStep) {
  EXPECT_FALSE(borders_of(made({1, 6})));
  EXPECT_FALSE(borders_of(made({1, 0, true})));
}

TEST(BeatBorders, AreRefusedWithoutTheCounterOfTheExponentials) {
  Heartbeat h = made({});
  std::erase_if(h.counters, [](const BeatCounter& c) { return c.id == "xu"; });
  const auto b = borders_of(h);
  ASSERT_FALSE(b);
  EXPECT_NE(b.error().message.find("'xu' has no values"), std::string::npos);
}

// Of an H100. Looked at by hand beforehand, in NumPy: sixteen beats folded at their strongest frequency, 16.16 us; the
// exponentials rise above 5 % for two to three samples of 1.1 us, and before them multiply-adds are busier than after.
TEST(BeatBorders, OfFlashSimtOnAnH100SplitIntoScoresWeightsAndOutput) {
  const auto session = read_session(test::source_folder() + "/assets/sessions/h100-heartbeat.attn");
  ASSERT_TRUE(session) << session.error().message;
  bool seen = false;
  for (const SweepRun& run : session->runs)
    for (const Measurement& m : run.rows) {
      if (m.key.kernel != "flash_simt" || !m.heartbeat) continue;
      seen = true;
      const auto b = borders_of(*m.heartbeat);
      ASSERT_TRUE(b) << b.error().message;
      EXPECT_NEAR(b->period_us, 16.16, 0.1);
      const double p = (b->parts[1].to - b->parts[1].from) * b->period_us;
      EXPECT_GT(p, 1.5);
      EXPECT_LT(p, 4.5);
      EXPECT_GT(b->parts[0].fma, b->parts[2].fma + 5);
      EXPECT_GT(b->parts[2].shared, b->parts[0].shared + 3);
      EXPECT_GT(b->parts[1].xu, 10);
    }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace attn
