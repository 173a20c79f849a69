#include "profiling/figures/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace attn {
namespace {

// Expected values: NumPy 2.4 np.quantile (method "linear", which is R-7).
TEST(Quantile, EqualsNumPyForAnOddCount) {
  const std::vector<double> sorted{1.5, 3.25, 4.0, 7.0, 9.75, 12.5, 20.0};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 3.625);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 7.0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 11.125);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.1), 2.55);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.9), 15.5);
}

TEST(Quantile, EqualsNumPyForAnEvenCount) {
  const std::vector<double> sorted{1.0, 2.0, 4.0, 5.0};
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.5), 3.0);
  EXPECT_DOUBLE_EQ(quantile(sorted, 0.75), 4.25);
}

TEST(Quantile, OfOneNumberIsThatNumber) {
  EXPECT_EQ(quantile(std::vector<double>{42.0}, 0.25), 42.0);
}

// Ranks of the 95 % interval of a median: the binomial table of Conover, Practical Nonparametric Statistics,
// recomputed in exact integers with Python's math.comb. Here counted from 0.
TEST(MedianInterval, HasTheRanksOfTheBinomialTable) {
  const std::map<int, int> low_rank{{6, 0},  {8, 0},  {9, 1},   {11, 1},   {12, 2},    {15, 3},    {20, 5},
                                    {25, 7}, {30, 9}, {50, 17}, {100, 39}, {500, 227}, {2000, 955}};
  for (const auto& [n, low] : low_rank) {
    const MedianInterval i = median_interval(n);
    EXPECT_EQ(i.low, low) << n;
    EXPECT_EQ(i.high, n - 1 - low) << n;
    EXPECT_TRUE(i.enough) << n;
  }
}

TEST(MedianInterval, FiveRepeatsAreTooFewForNinetyFivePercent) {
  for (int n = 1; n <= 5; ++n) {
    const MedianInterval i = median_interval(n);
    EXPECT_FALSE(i.enough) << n;
    EXPECT_EQ(i.low, 0);
    EXPECT_EQ(i.high, n - 1);
  }
}

TEST(TimeStatistics, DescribesRepeatsInAnyOrder) {
  // NumPy default_rng(7).normal(100, 1, 12).round(3); quartiles by np.quantile, interval x_(3), x_(10) for n = 12.
  const std::vector<double> samples{100.001, 100.299, 99.726, 99.109, 99.545, 99.008,
                                    100.06,  101.34,  99.508, 99.38,  100.49, 100.357};
  const TimeStatistics t = statistics_of(samples);
  EXPECT_EQ(t.n, 12);
  EXPECT_DOUBLE_EQ(t.median, 99.8635);
  EXPECT_DOUBLE_EQ(t.q1, 99.476);
  EXPECT_DOUBLE_EQ(t.q3, 100.3135);
  EXPECT_DOUBLE_EQ(t.min, 99.008);
  EXPECT_DOUBLE_EQ(t.max, 101.34);
  EXPECT_DOUBLE_EQ(t.ci_low, 99.38);
  EXPECT_DOUBLE_EQ(t.ci_high, 100.357);
  EXPECT_TRUE(t.settled);  // 0.977 is under 1 % of 99.86
  EXPECT_FALSE(statistics_of(samples, 0.009).settled);
}

TEST(TimeStatistics, OfNoRepeatsIsEmptyAndNotSettled) {
  const TimeStatistics t = statistics_of({});
  EXPECT_EQ(t.n, 0);
  EXPECT_EQ(t.median, 0);
  EXPECT_FALSE(t.settled);
}

TEST(TimeStatistics, FiveEqualRepeatsAreNotSettled) {
  EXPECT_FALSE(statistics_of(std::vector<double>(5, 10.0)).settled);
  EXPECT_TRUE(statistics_of(std::vector<double>(6, 10.0)).settled);
}

std::vector<double> wobble(int n, double start, double slope) {
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(start + slope * i + (i * 7 % 5) * 0.1);
  return v;
}

TEST(Drift, IsSeenWhenTimesGrowSteadily) {
  EXPECT_TRUE(has_drifted(wobble(60, 100, 0.2)));
  EXPECT_TRUE(has_drifted(wobble(60, 100, -0.2)));
}

TEST(Drift, IsNotSeenInSteadyNoise) {
  EXPECT_FALSE(has_drifted(wobble(60, 100, 0)));
}

TEST(Drift, UnderOnePercentIsNotWorthAFlag) {
  EXPECT_FALSE(has_drifted(wobble(60, 100, 0.02)));  // the thirds are 0.8 % apart
}

TEST(Drift, CannotBeToldFromSeventeenRepeats) {
  EXPECT_FALSE(has_drifted(wobble(17, 100, 5)));
  EXPECT_TRUE(has_drifted(wobble(18, 100, 5)));
}

TEST(StopRule, KeepsTheLeastRepeatsEvenWhenSettled) {
  StopRule rule(MinRepeats{8}, Settled{}, TimeLimit{100});
  std::vector<double> samples(7, 10.0);
  EXPECT_FALSE(rule.stop({samples, 1}));
  samples.push_back(10.0);
  EXPECT_TRUE(rule.stop({samples, 1}));
}

TEST(StopRule, GoesOnWhileTheMedianIsNotSettled) {
  StopRule rule(MinRepeats{5}, Settled{}, TimeLimit{100});
  std::vector<double> samples;
  for (int i = 0; i < 40; ++i) samples.push_back(i % 2 == 0 ? 10.0 : 20.0);
  EXPECT_FALSE(rule.stop({samples, 1}));
}

TEST(StopRule, EndsAtTheTimeLimitOnceTheLeastRepeatsAreThere) {
  StopRule rule(MinRepeats{5}, Settled{}, TimeLimit{1});
  const std::vector<double> few{1, 2, 3, 4}, enough{1, 2, 3, 4, 5};
  EXPECT_FALSE(rule.stop({few, 1.5}));
  EXPECT_TRUE(rule.stop({enough, 1.5}));
  EXPECT_FALSE(rule.stop({enough, 0.5}));
}

TEST(StopRule, LosesPatienceAfterFourLimitsWithOneRepeatAtLeast) {
  StopRule rule(MinRepeats{5}, Settled{}, TimeLimit{1});
  EXPECT_TRUE(rule.stop({std::vector<double>{4e6}, 4}));
  EXPECT_FALSE(rule.stop({{}, 100}));
}

TEST(StopRule, NeverKeepsMoreThanTheMostRepeats) {
  StopRule rule(MinRepeats{5}, Settled{}, TimeLimit{1000});
  std::vector<double> samples;
  for (int i = 0; i < 2000; ++i) samples.push_back(i % 2 == 0 ? 10.0 : 20.0);
  EXPECT_TRUE(rule.stop({samples, 1}));
}

// Repeats of two kinds, in every share: a median of one kind is settled only where the other is rare.
TEST(Settled, NeverWhereOverATenthOfTheRepeatsAreOfAnotherKind) {
  for (const double other : {1.0, 0.5, 1.5, 2.0, 86.0}) {
    for (int percent = 0; percent <= 50; percent += 2) {
      std::vector<double> samples;
      for (int n = 0; n < 1000; ++n)
        samples.push_back((n * 37 % 100 < percent ? other : 1.0) * (100 + 0.001 * (n % 7)));
      const bool split = other != 1.0 && percent > 10;
      EXPECT_EQ(statistics_of(samples).settled, !split) << percent << " % at " << other;
      StopRule rule(MinRepeats{5}, Settled{}, TimeLimit{1e9});
      EXPECT_EQ(rule.stop({samples, 1}), !split) << percent << " % at " << other;
    }
  }
}

TEST(Settled, AClockThatCountsInStepsMakesNoOtherKind) {
  std::vector<double> samples;
  for (int n = 0; n < 200; ++n) samples.push_back(n % 4 == 0 ? 20.032 : 20.0);
  EXPECT_TRUE(statistics_of(samples).settled);
}

}  // namespace
}  // namespace attn
