#include "profiling/measure/repeat.h"

#include <gtest/gtest.h>

namespace attn {
namespace {

// A clock that moves only when a run says so.
struct FakeTime {
  double now = 100;
  Clock clock() {
    return [this] { return now; };
  }
  std::function<Result<void>()> run_taking(double seconds) {
    return [this, seconds]() -> Result<void> {
      now += seconds;
      ++runs;
      return ok();
    };
  }
  int runs = 0;
};

StopRule rule(int min, double limit) {
  return StopRule(MinRepeats{min}, Settled{}, TimeLimit{limit});
}

TEST(TimeRepeats, GivesMicrosecondsOfEachRun) {
  FakeTime time;
  const auto samples = time_repeats(time.run_taking(0.25), 0, rule(6, 100), time.clock(), {});
  ASSERT_TRUE(samples);
  ASSERT_EQ(samples->size(), 6U);  // six equal ones are settled
  for (const double s : *samples) EXPECT_DOUBLE_EQ(s, 250000);
}

TEST(TimeRepeats, WarmUpRunsAreNotKept) {
  FakeTime time;
  const auto samples = time_repeats(time.run_taking(0.25), 1.0, rule(6, 100), time.clock(), {});
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->size(), 6U);
  EXPECT_EQ(time.runs, 10);  // four warm-up runs of 0.25 s
}

TEST(TimeRepeats, OneSlowRunIsEnoughAfterFourLimits) {
  FakeTime time;
  const auto samples = time_repeats(time.run_taking(5), 0, rule(5, 1), time.clock(), {});
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->size(), 1U);
}

TEST(TimeRepeats, TheFirstErrorEndsIt) {
  int runs = 0;
  FakeTime time;
  const auto run = [&]() -> Result<void> {
    time.now += 0.1;
    return ++runs == 3 ? Result<void>(fail(ErrorKind::failed, "third run")) : ok();
  };
  const auto samples = time_repeats(run, 0, rule(6, 100), time.clock(), {});
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().message, "third run");
  EXPECT_EQ(runs, 3);
}

TEST(TimeRepeats, AStopBetweenRepeatsIsSeenBeforeTheNextRun) {
  std::stop_source source;
  FakeTime time;
  int runs = 0;
  const auto run = [&]() -> Result<void> {
    time.now += 0.1;
    if (++runs == 2) source.request_stop();
    return ok();
  };
  const auto samples = time_repeats(run, 0, rule(6, 100), time.clock(), source.get_token());
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().kind, ErrorKind::cancelled);
  EXPECT_EQ(samples.error().message, "Cancelled after 2 repeats.");
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace attn
