// Rows against those of an earlier session: who is whose partner, the ratio, its noise, and what is said.
#include "profiling/session/regression.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"

namespace attn {
namespace {

// Repeats that spread by `noise` of their middle to either side.
Measurement timed(const std::string& kernel, double us, double noise = 0) {
  Measurement m;
  m.key.kernel = kernel;
  m.key.device = "one device";
  m.key.problem.Lq = m.key.problem.Lk = 128;
  for (int i = 0; i <= 20; ++i) m.samples_us.push_back(us * (1 + noise * (i - 10) / 10));
  m.time = statistics_of(m.samples_us);
  return m;
}

std::vector<SweepRun> session(std::vector<Measurement> rows) {
  SweepRun run;
  run.rows = std::move(rows);
  return {run};
}

HeldRow held(const Measurement& now, const std::vector<SweepRun>& earlier, const Provenance& where = {}) {
  const Held all = hold_against(std::vector{now}, where, earlier);
  EXPECT_EQ(all.rows.size(), 1U);
  HeldRow r = all.rows.at(0);
  r.row = &now;
  return r;
}

bool says(const HeldRow& r, const std::string& words) {
  return words_of(r).find(words) != std::string::npos;
}

TEST(Regression, TheRatioIsEarlierOverNowAndFallsUnderItsBoundAlone) {
  const auto earlier = session({timed("cpu_flash", 97)});
  const Measurement now = timed("cpu_flash", 100);
  const HeldRow r = held(now, earlier);
  EXPECT_DOUBLE_EQ(r.ratio, 0.97);
  EXPECT_FALSE(fell(r, 0.97));
  EXPECT_TRUE(fell(r, 0.971));
  EXPECT_TRUE(says(r, "0.970× its earlier speed")) << words_of(r);
  EXPECT_TRUE(says(r, "100.0 µs now and 97.0 µs previously")) << words_of(r);
}

TEST(Regression, NoiseIsThatOfBothMedians) {
  const auto earlier = session({timed("cpu_flash", 96, 0.1)});
  const Measurement noisy = timed("cpu_flash", 100, 0.1), steady = timed("cpu_flash", 150);
  const HeldRow near = held(noisy, earlier), far = held(steady, earlier);
  const TimeStatistics &then = earlier[0].rows[0].time, &now = noisy.time;
  EXPECT_DOUBLE_EQ(near.low, then.ci_low / now.ci_high);
  EXPECT_DOUBLE_EQ(near.high, then.ci_high / now.ci_low);
  EXPECT_LT(near.low, near.ratio);
  EXPECT_GT(near.high, near.ratio);
  EXPECT_TRUE(fell(near, 0.97));
  EXPECT_TRUE(unsure(near, 0.97));
  EXPECT_TRUE(fell(far, 0.97));
  EXPECT_FALSE(unsure(far, 0.97));
}

TEST(Regression, APartnerIsOfTheSameProblemDeviceCachesAndOptions) {
  const Measurement now = timed("cpu_flash", 100);
  Measurement other = timed("cpu_flash", 50);
  other.key.problem.Lq = 64;
  EXPECT_TRUE(says(held(now, session({other})), "no measured time for this kernel on this problem"));
  other = timed("cpu_flash", 50);
  other.key.device = "another device";
  EXPECT_TRUE(says(held(now, session({other})), "measured on another device in the session"));
  other = timed("cpu_flash", 50);
  other.key.l2 = L2State::cold;
  EXPECT_TRUE(says(held(now, session({other})), "measured with cold caches in the session"));
  Measurement wide = timed("cpu_flash", 50), narrow = timed("cpu_flash", 60);
  wide.key.options.bc = 64;
  narrow.key.options.bc = 32;
  EXPECT_TRUE(says(held(now, session({wide, narrow})), "2 matching rows, each with different options"));
  EXPECT_TRUE(says(held(now, session({wide})), "with other options"));
  EXPECT_DOUBLE_EQ(held(now, session({wide, timed("cpu_flash", 80)})).ratio, 0.8);
  for (const auto& earlier : {session({other}), session({wide, narrow})}) EXPECT_FALSE(fell(held(now, earlier), 0.97));
}

TEST(Regression, TheLastOfSeveralRowsCountsAndAnOwnKernelGoesByItsFile) {
  EXPECT_DOUBLE_EQ(held(timed("cpu_flash", 100), session({timed("cpu_flash", 50), timed("cpu_flash", 90)})).ratio, 0.9);
  EXPECT_DOUBLE_EQ(held(timed("mine@00000001", 100), session({timed("mine@00000002", 80)})).ratio, 0.8);
  EXPECT_EQ(held(timed("mine@00000001", 100), session({timed("yours@00000001", 80)})).earlier, nullptr);
}

TEST(Regression, WhatIsNoLongerMeasuredFalls) {
  Measurement now = timed("cpu_flash", 100);
  now.state = RowState::failed;
  now.reason = "it broke";
  now.time = {};
  now.key.options.bc = 16;
  const auto earlier = session({timed("cpu_flash", 50)});
  const HeldRow r = held(now, earlier);
  EXPECT_TRUE(fell(r, 0.1));
  EXPECT_TRUE(says(r, "failed (it broke), previously 50.0 µs")) << words_of(r);
  // What broke then as well is no news.
  EXPECT_FALSE(fell(held(now, session({now})), 0.97));
}

TEST(Regression, WhatElseDiffersIsNamed) {
  const auto on = [](double mhz, const std::string& uuid) {
    Measurement m = timed("naive", 100);
    m.processor = Processor::gpu;
    m.key.device_uuid = uuid;
    m.clock = "CUPTI kernel time stamps";
    m.figures.resize(metric_table().size());
    m.figures[find_metric("sm_clock_mhz").value()] = {Origin::measured, mhz, "NVML", ""};
    return m;
  };
  auto earlier = session({on(1980, "a")});
  earlier[0].provenance.driver = "550.1";
  Provenance here;
  here.driver = "550.1";
  EXPECT_TRUE(held(on(1960, "a"), earlier, here).unfair.empty());
  here.driver = "580.2";
  Measurement slow = on(1200, "b");
  slow.clock = "CUDA events (no CUPTI)";
  const HeldRow r = held(slow, earlier, here);
  EXPECT_EQ(r.unfair.size(), 4U);
  // A row that was held down by its power limit, beside one that was not, and less that it may draw.
  const auto put = [](Measurement m, double limit, double held, const std::string& by) {
    m.figures[find_metric("power_limit_w").value()] = {Origin::measured, limit, "NVML", ""};
    Figure f{Origin::measured, held, "NVML", ""};
    f.limiter = by;
    m.figures[find_metric("held_down_pct").value()] = f;
    return m;
  };
  const Measurement held_down = put(on(1980, "a"), 500, 80, "power limit");
  const auto free_run = session({put(on(1980, "a"), 700, 0, "")});
  const HeldRow powered = held(held_down, free_run);
  EXPECT_EQ(powered.unfair.size(), 2U);
  EXPECT_TRUE(says(powered, "power limit in W 500 against 700")) << words_of(powered);
  EXPECT_TRUE(says(powered, "clocks throttled (power limit) in 80 % of the readings, compared with 0 %"))
      << words_of(powered);
  for (const char* words :
       {"two devices named one device", "driver 580.2 against 550.1", "SM clock in MHz 1200 against 1980",
        "timed by CUDA events against CUPTI kernel time stamps"})
    EXPECT_TRUE(says(r, words)) << words << "\n" << words_of(r);
}

TEST(Regression, PeersAreNotOurs) {
  Measurement peer = timed("torch-flash", 100);
  peer.peer.emplace();
  EXPECT_TRUE(hold_against(std::vector{peer}, {}, session({peer})).rows.empty());
}

}  // namespace
}  // namespace attn
