// Points of a sweep along the ranks of a ring: a process a rank, rows with the ring's figures, rows of earlier runs.
#include "app/ring/ring_bench.h"

#include <gtest/gtest.h>

#include <set>
#include <stop_token>
#include <utility>
#include <vector>

#include "kernels/ladder.h"
#include "kernels/model/ring.h"
#include "profiling/figures/metrics.h"
#include "profiling/sweep/sweep.h"
#include "tests/app/ring/copied_rank.h"
#include "tests/environment/asked.h"

namespace attn {
namespace {

SweepSpec along_ranks(std::vector<std::int64_t> values) {
  SweepSpec s;
  s.kernels = {"cpu_flash"};
  s.axis = Axis(kRanks.name);
  s.values = std::move(values);
  s.base.Lq = 70, s.base.Lk = 90;
  s.base.Hq = 4, s.base.Hkv = 2;
  s.base.D = s.base.Dv = 16;
  s.base.mask.window_right = 0;
  s.options.br = s.options.bc = 16;
  choose(s.options, kDeal, 1);
  s.seconds_per_point = test::asked("ATTNSCOPE_SANITIZED") ? 2 : 0.02;  // three repeats fit
  s.min_repeats = 3;
  s.peak = {100, 10, 1};
  return s;
}

std::vector<Measurement> rows_of_rings(const SweepSpec& s, RingBench& rings, std::span<const Measurement> kept = {},
                                       std::stop_token stop = {}) {
  SweepCallbacks callbacks;
  callbacks.cpu = rings.runner({});
  callbacks.kept = kept;
  const auto rows = run_sweep(s, callbacks, std::move(stop));
  EXPECT_TRUE(rows) << rows.error().message;
  return rows ? *rows : std::vector<Measurement>();
}

// In every turn a rank computes; it sends, receives and waits but in the last. Nothing ends behind the ring's end.
void expect_lanes(const Measurement& m) {
  const auto ranks = static_cast<std::int64_t>(m.ranks->devices.size());
  for (const Rank& r : m.ranks->devices) {
    std::set<std::pair<RankWork, std::int64_t>> seen;
    for (const RankSpan& s : r.spans) {
      seen.insert({s.work, s.turn});
      EXPECT_GE(s.begin_us, 0);
      EXPECT_LE(s.begin_us, s.end_us);
      EXPECT_LE(s.end_us, r.end_us + 1e-3);
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(ranks + 3 * (ranks - 1)));
    for (std::int64_t turn = 0; turn < ranks; ++turn) EXPECT_TRUE(seen.contains({RankWork::compute, turn}));
    EXPECT_NEAR(us_of(r.spans, RankWork::send), r.send_us, 1e-3 * static_cast<double>(ranks));
  }
}

// K and V of 90 keys, 2 heads, 16 + 16 numbers of 4 bytes: every share goes once past every rank but the last.
TEST(RingBench, EveryNumberOfRanksIsARingOfProcessesWithItsFigures) {
  RingBench rings(copied_rank);
  const auto rows = rows_of_rings(along_ranks({1, 2, 3}), rings);
  ASSERT_EQ(rows.size(), 3U);
  std::set<std::int32_t> threads;
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const Measurement& m = rows[n];
    const double ranks = static_cast<double>(n + 1);
    ASSERT_EQ(m.state, RowState::done) << m.reason;
    ASSERT_TRUE(m.ranks);
    EXPECT_EQ(m.ranks->devices.size(), n + 1);
    EXPECT_EQ(m.ranks->carrier, Carrier::sockets);
    EXPECT_EQ(m.ranks->dealing, Dealing::zigzag);
    EXPECT_TRUE(m.verdict && m.verdict->pass);
    EXPECT_GE(m.time.n, 3);
    EXPECT_EQ(m.peaks.peak_gflops, 100);
    threads.insert(m.key.options.threads);
    expect_lanes(m);
    EXPECT_DOUBLE_EQ(figure(m, "ring_scaling_ratio").value, rows[0].time.median / m.time.median) << n;
    EXPECT_DOUBLE_EQ(figure(m, "ring_efficiency_pct").value, 100 * rows[0].time.median / m.time.median / ranks) << n;
    EXPECT_EQ(figure(m, "ring_sent_bytes").value, 90.0 * 2 * 32 * 4 * (ranks - 1)) << n;
    EXPECT_EQ(figure(m, "ring_link_share_pct").available(), n > 0) << figure(m, "ring_link_share_pct").reason;
  }
  EXPECT_EQ(threads.size(), 1U) << "as many threads a rank in all rings, or their times do not compare";
}

TEST(RingBench, WithoutItsRowOneRankIsTimedForTheScaling) {
  RingBench rings(copied_rank);
  for (const Measurement& m : rows_of_rings(along_ranks({2, 3}), rings)) {
    ASSERT_TRUE(m.ranks) << m.reason;
    EXPECT_GT(m.ranks->one_rank_us, 0);
    EXPECT_TRUE(figure(m, "ring_scaling_ratio").available());
  }
}

TEST(RingBench, PointsOfNoRingAreLeftToTheOthers) {
  SweepSpec s = along_ranks({2});
  s.kernels = {"cpu_sequential", "cpu_flash"};
  RingBench rings(copied_rank);
  std::vector<std::string> others;
  SweepCallbacks callbacks;
  callbacks.cpu = rings.runner([&](const Point& p, const auto&, std::stop_token) {
    others.push_back(p.kernel);
    return Measurement();
  });
  ASSERT_TRUE(run_sweep(s, callbacks, {}));
  EXPECT_EQ(others, (std::vector<std::string>{"cpu_sequential"}));
  // Nobody chose ranks: one process, as ever.
  s.axis = Axis::L;
  s.values = {32};
  s.options.further.clear();
  ASSERT_TRUE(run_sweep(s, callbacks, {}));
  EXPECT_EQ(others, (std::vector<std::string>{"cpu_sequential", "cpu_sequential", "cpu_flash"}));
}

TEST(RingBench, ARingThatIsDoneIsNotRunAgainAndARowOfOneProcessStandsForNone) {
  const SweepSpec s = along_ranks({1, 2});
  RingBench rings(copied_rank);
  auto rows = rows_of_rings(s, rings);
  RingBench none([](Socket&, Socket&) -> Result<Child> { return fail(ErrorKind::failed, "no process can be made"); });
  for (const Measurement& m : rows_of_rings(s, none, rows)) EXPECT_EQ(m.state, RowState::done) << m.reason;
  for (Measurement& m : rows) m.ranks.reset();
  for (const Measurement& m : rows_of_rings(s, none, rows)) {
    EXPECT_EQ(m.state, RowState::failed);
    EXPECT_NE(m.reason.find("no process can be made"), std::string::npos) << m.reason;
  }
}

TEST(RingBench, WhatCannotRunIsARowWithItsReason) {
  SweepSpec s = along_ranks({2});
  RingBench rings(copied_rank);
  s.memory_limit = 1024;
  auto rows = rows_of_rings(s, rings);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].state, RowState::refused) << rows[0].reason;
  ASSERT_TRUE(rows[0].ranks);
  EXPECT_EQ(rows[0].ranks->devices.size(), 2U) << "of this ring, not of one process";
  for (const char* id : {"ring_scaling_ratio", "ring_efficiency_pct", "ring_sent_bytes", "ring_link_share_pct"})
    EXPECT_EQ(figure(rows[0], id).reason, "not timed") << id;
  s.memory_limit = 0;
  const auto done = rows_of_rings(s, rings);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_TRUE(replaces(done[0], rows[0])) << done[0].reason;
  s = along_ranks({2});
  choose(s.options, kSplits, 3);
  rows = rows_of_rings(s, rings);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NE(rows[0].state, RowState::done);
  EXPECT_FALSE(rows[0].reason.empty());
}

TEST(RingBench, AStopEndsTheRingAndItsRowSaysSo) {
  SweepSpec s = along_ranks({2});
  s.seconds_per_point = 3600;
  s.min_repeats = 5;
  std::stop_source stop;
  RingBench rings(copied_rank);
  SweepCallbacks callbacks;
  int runs = 0;
  const PointRunner runner = rings.runner({});
  callbacks.cpu = [&](const Point& p, const auto&, std::stop_token token) {
    const auto now = [&](const std::string&) {
      if (++runs == 4) stop.request_stop();
    };
    return runner(p, now, std::move(token));
  };
  const auto rows = run_sweep(s, callbacks, stop.get_token());
  ASSERT_TRUE(rows && rows->size() == 1U);
  EXPECT_EQ(rows->front().state, RowState::cancelled) << rows->front().reason;
}

}  // namespace
}  // namespace attn
