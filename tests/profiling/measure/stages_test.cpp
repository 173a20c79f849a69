// Where a point's time went: one stage after the other, the last one ended by whatever ends the point.
#include "profiling/measure/stages.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "profiling/measure/cpu/on_cpu.h"
#include "tests/profiling/fake_kernels.h"

namespace attn {
namespace {

TEST(Stages, FollowOneAnotherByTheClock) {
  double now = 100;
  const Clock clock = [&] { return now; };
  Measurement m;
  {
    Stages stages(m, clock);
    EXPECT_TRUE(m.stages.empty());
    now = 101;  // nothing has begun: it does not count
    stages.enter("inputs");
    now = 101.25;
    stages.enter("run");
    now = 103;
    stages.end();
    now = 104;  // nor does what lies between two
    stages.enter("time");
    now = 104.5;
  }
  ASSERT_EQ(m.stages.size(), 3U);
  EXPECT_EQ(m.stages[0].name, "inputs");
  EXPECT_DOUBLE_EQ(m.stages[0].start_us, 0);
  EXPECT_DOUBLE_EQ(m.stages[0].duration_us, 0.25e6);
  EXPECT_DOUBLE_EQ(m.stages[1].start_us, 0.25e6);
  EXPECT_DOUBLE_EQ(m.stages[1].duration_us, 1.75e6);
  EXPECT_DOUBLE_EQ(m.stages[2].start_us, 3e6);
  EXPECT_DOUBLE_EQ(m.stages[2].duration_us, 0.5e6);
}

std::vector<std::string> names_of(const Measurement& m) {
  std::vector<std::string> names;
  for (const Stage& s : m.stages) names.push_back(s.name);
  return names;
}

Measurement measured(const KernelRow& row, bool verify) {
  Point p;
  p.kernel = row.id;
  p.problem = test::small_problem();
  p.seconds_per_point = 0.02;
  p.verify = verify;
  return measure_on_cpu(row, p, {100, 10, 1}, {});
}

TEST(Stages, OfAPointOnTheCpuHoldItsRepeatsAndItsMoment) {
  const auto unix_us = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const std::int64_t before = unix_us();
  const Measurement m = measured(test::real_row(), true);
  EXPECT_EQ(names_of(m), (std::vector<std::string>{"plan", "inputs", "run", "verify", "warm up", "time"}));
  EXPECT_GE(m.begun_unix_us, before);
  EXPECT_LE(m.begun_unix_us, unix_us());
  double repeats = 0;
  for (const double us : m.samples_us) repeats += us;
  EXPECT_GE(m.stages.back().duration_us, repeats);
  for (std::size_t i = 1; i < m.stages.size(); ++i)
    EXPECT_GE(m.stages[i].start_us + 1e-3, m.stages[i - 1].start_us + m.stages[i - 1].duration_us);
}

TEST(Stages, ThatWereLeftOutAreNotThereAndTheLastOfAFailureIsWhereItFailed) {
  EXPECT_EQ(names_of(measured(test::real_row(), false)),
            (std::vector<std::string>{"plan", "inputs", "run", "warm up", "time"}));
  const Measurement failed = measured(test::failing_kernel(), true);
  ASSERT_NE(failed.state, RowState::done);
  EXPECT_EQ(names_of(failed).back(), "run");
  EXPECT_GT(failed.stages.back().duration_us, 0);
}

}  // namespace
}  // namespace attn
