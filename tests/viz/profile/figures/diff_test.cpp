#include "viz/profile/figures/diff.h"

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "tests/viz/profile/profile_rows.h"

namespace attn {
namespace {

using profile_test::h100_row;
using profile_test::put;

const MetricRow& metric(std::string_view id) {
  return metric_table()[*find_metric(id)];
}

// A row whose median lies within `percent` of `us` with 95 %.
Measurement timed(double us, double percent, std::int32_t repeats = 40) {
  Measurement m = h100_row("flash_simt", us);
  m.time.n = repeats;
  m.time.ci_low = us * (1 - percent / 100);
  m.time.ci_high = us * (1 + percent / 100);
  fill_figures(m);
  return m;
}

TEST(ProfileDiff, ATimeIsBetterWhereTheIntervalsDoNotMeet) {
  const FigureChange c = change_of(metric("time_us_median"), timed(900, 1), timed(1000, 1));
  EXPECT_EQ(c.text, "0.900×");
  EXPECT_EQ(c.noise, Noise::beyond);
  EXPECT_TRUE(c.better);
  EXPECT_FALSE(c.up);
  // What is computed from the time goes with it, the other way up.
  const FigureChange rate = change_of(metric("tflops"), timed(900, 1), timed(1000, 1));
  EXPECT_EQ(rate.noise, Noise::beyond);
  EXPECT_TRUE(rate.better);
  EXPECT_TRUE(rate.up);
}

TEST(ProfileDiff, ATimeWithinTheNoiseIsNeitherBetterNorWorse) {
  for (const char* id : {"time_us_median", "tflops", "dram_gb_per_s"}) {
    const FigureChange c = change_of(metric(id), timed(900, 8), timed(1000, 8));
    EXPECT_EQ(c.noise, Noise::within) << id;
    EXPECT_NE(c.text, "same") << id;
    EXPECT_FALSE(c.better || c.worse) << id;
  }
}

TEST(ProfileDiff, TooFewRepeatsTellNothingOfTheNoise) {
  const FigureChange c = change_of(metric("time_us_median"), timed(900, 1, 5), timed(1000, 1));
  EXPECT_EQ(c.noise, Noise::unknown);
  EXPECT_NE(c.noise_words.find("5 and 40 repeats"), std::string::npos) << c.noise_words;
}

TEST(ProfileDiff, CountersAreCountedOnceAndCompiledFiguresAreExact) {
  Measurement a = timed(900, 1), b = timed(1000, 1);
  put(a, "dram_read_bytes", 2e6);
  put(b, "dram_read_bytes", 1e6);
  put(a, "registers_count", 128, Origin::compiled);
  fill_figures(a);
  fill_figures(b);
  const FigureChange bytes = change_of(metric("dram_read_bytes"), a, b);
  EXPECT_EQ(bytes.noise, Noise::unknown);
  EXPECT_EQ(bytes.text, "2.00×");
  EXPECT_TRUE(bytes.worse);
  EXPECT_EQ(change_of(metric("dram_over_compulsory_ratio"), a, b).noise, Noise::unknown);
  const FigureChange registers = change_of(metric("registers_count"), a, b);
  EXPECT_EQ(registers.noise, Noise::exact);
  EXPECT_FALSE(registers.better || registers.worse) << "fewer registers are no end in themselves";
  EXPECT_EQ(registers.text, "0.504×");
  EXPECT_EQ(change_of(metric("tile_load_bytes"), a, b).noise, Noise::exact);
  EXPECT_EQ(change_of(metric("tile_load_bytes"), a, b).text, "same");
}

// From naive to flash they rise although it moves far fewer bytes.
TEST(ProfileDiff, HitsOfL2AndRatiosToAModelAreNeitherBetterNorWorse) {
  Measurement a = timed(900, 1), b = timed(1000, 1);
  for (const auto& [m, factor] : {std::pair{&a, 2.0}, std::pair{&b, 1.0}}) {
    put(*m, "dram_read_bytes", factor * 1e9);
    put(*m, "l2_hit_pct", 30 * factor);
    fill_figures(*m);
  }
  for (const char* id : {"l2_hit_pct", "dram_over_compulsory_ratio", "dram_over_tile_loads_ratio"}) {
    const FigureChange c = change_of(metric(id), a, b);
    EXPECT_NE(c.text, "") << id;
    EXPECT_NE(c.text, "same") << id;
    EXPECT_FALSE(c.better || c.worse) << id;
  }
}

// O is 16 x 16384 x 128 x 4 B and LSE 16 x 16384 x 4 B: 135 MB.
TEST(ProfileDiff, HowMuchOfTheResultsHadLeftTheL2IsNoMerit) {
  Measurement a = timed(900, 1), b = timed(1000, 1);
  put(a, "dram_write_bytes", 27e6);
  put(b, "dram_write_bytes", 2e6);
  const FigureChange c = change_of(metric("dram_write_bytes"), a, b);
  EXPECT_EQ(c.text, "13.5×");
  EXPECT_FALSE(c.better || c.worse);
  put(a, "dram_write_bytes", 2e9);
  EXPECT_TRUE(change_of(metric("dram_write_bytes"), a, b).worse) << "S and P are written too";
}

// 12.5 % and "at least 12.5 %" are not the same.
TEST(ProfileDiff, TheLeastOfSeveralLaunchesIsABoundAndNeverTheSame) {
  Measurement a = timed(900, 1), b = timed(1000, 1);
  const auto set = [](Measurement& m, double value, bool least) {
    put(m, "occupancy_theoretical_pct", value, Origin::compiled);
    m.figures[*find_metric("occupancy_theoretical_pct")].min_of_launches = least;
  };
  const auto change = [&] { return change_of(metric("occupancy_theoretical_pct"), a, b); };
  set(a, 12.5, false);
  set(b, 12.5, true);
  EXPECT_EQ(change().text, "≤ 1.00×");
  EXPECT_EQ(change().noise, Noise::unknown);
  EXPECT_NE(change().noise_words.find("the reference value is a minimum over several launches"), std::string::npos);
  set(a, 25, true);
  set(b, 12.5, false);
  EXPECT_EQ(change().text, "≥ 2.00×");
  set(b, 25, true);
  EXPECT_EQ(change().text, "");
  set(a, 100, true);
  set(b, 100, false);
  EXPECT_EQ(change().text, "same") << "more than all cannot be";
}

TEST(ProfileDiff, OfAFigureThatOneLacksThereIsNone) {
  Measurement a = timed(900, 1);
  const FigureChange c = change_of(metric("spill_bytes"), a, timed(1000, 1));
  EXPECT_EQ(c.text, "");
}

}  // namespace
}  // namespace attn
