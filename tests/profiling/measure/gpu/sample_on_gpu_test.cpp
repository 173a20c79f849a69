// How often a kernel is looked at: many samples of a short one, none dropped of a long one.
#include "profiling/measure/gpu/sample_on_gpu.h"

#include <gtest/gtest.h>

namespace attn {
namespace {

constexpr double kClock = 1980000;  // of an H100, kHz
constexpr std::int32_t kSms = 132;

TEST(SamplingPlan, TakesThePeriodThatAKernelOfTwoMillisecondsWasSeenToBear) {
  EXPECT_EQ(sampling_plan(1800, kClock, kSms), (SamplingPlan{11, 1}));
  EXPECT_EQ(sampling_plan(18000, kClock, kSms), (SamplingPlan{14, 1}));
}

TEST(SamplingPlan, RunsAShortKernelOftenEnough) {
  const SamplingPlan plan = sampling_plan(10, kClock, kSms);
  EXPECT_EQ(plan.period_log2, 8) << "below it the hardware drops samples";
  const double expected = plan.launches * 10 * kClock / 1000 * kSms / 256;
  EXPECT_GE(expected, kEnoughSamples);
  EXPECT_LE(expected, 2.0 * kEnoughSamples);
}

TEST(SamplingPlan, LooksLessOftenAfterSamplesWereDroppedAndRunsMoreAfterTooFew) {
  const SamplingPlan plan{11, 1};
  EXPECT_EQ(next_plan(plan, 200000, 0), plan);
  EXPECT_EQ(next_plan(plan, 200000, 5), (SamplingPlan{12, 1}));
  EXPECT_EQ(next_plan(plan, 5000, 0), (SamplingPlan{11, 5}));
  EXPECT_EQ(next_plan(plan, 0, 0), plan) << "no sample at all: more runs would not help";
}

}  // namespace
}  // namespace attn
