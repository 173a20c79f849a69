// The lanes of measured rings: which are shown, what is said of them, what lies at a moment.
#include "viz/bench/ranks/rank_lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/model/ring.h"
#include "tests/viz/bench/rows.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

using bench_test::kRun;
using bench_test::model_of;
using bench_test::sweep_state;
using bench_test::timed_row;

State along_ranks() {
  State state = sweep_state();
  SweepSpec& sweep = state.document.sweep;
  sweep.axis = Axis(kRanks.name);
  sweep.kernels = {"cpu_flash"};
  sweep.values = {2, 3};
  return state;
}

// Every rank computes 100 us a turn, beginning 1 us after the one before, and waits 10 us after each but the last.
// While it computes a turn it sends for 40 us and receives for 30.
Measurement ring_of(const SweepSpec& sweep, std::int64_t ranks, std::int64_t value, double one_rank_us) {
  const double us = 110.0 * static_cast<double>(ranks) - 10 + static_cast<double>(ranks - 1);
  Measurement m = timed_row(sweep, "cpu_flash", value, us);
  m.ranks.emplace();
  m.ranks->carrier = Carrier::sockets;
  m.ranks->travels = {Tensor::k, Tensor::v};
  m.ranks->one_rank_us = one_rank_us;
  for (std::int64_t n = 0; n < ranks; ++n) {
    Rank& r = m.ranks->devices.emplace_back();
    r.device = "a CPU";
    r.sent_bytes = 4096;
    for (std::int64_t turn = 0; turn < ranks; ++turn) {
      const double at = static_cast<double>(n) + 110.0 * static_cast<double>(turn);
      r.spans.push_back({RankWork::compute, turn, at, at + 100});
      if (turn + 1 == ranks) continue;
      r.spans.push_back({RankWork::send, turn, at, at + 40});
      r.spans.push_back({RankWork::receive, turn, at, at + 30});
      r.spans.push_back({RankWork::wait, turn, at + 100, at + 110});
    }
  }
  fill_figures(m);
  return m;
}

// More ranks than cores: a fraction below 1 of "as fast" is hard to read, and what is neither span is said.
TEST(RankLanes, ASlowRingIsToldAsTimesAsLongWithWhatIsLeft) {
  const State state = along_ranks();
  Measurement slow = ring_of(state.document.sweep, 3, 3, 161);
  EXPECT_EQ(rank_lanes(state, model_of({slow})).reason.find("For the remaining"), std::string::npos);
  for (Rank& r : slow.ranks->devices)
    std::erase_if(r.spans, [](const RankSpan& s) { return s.work == RankWork::wait; });
  const RankLanesScene scene = rank_lanes(state, model_of({slow}));
  EXPECT_EQ(scene.rings.at(0).pace, "322 µs: takes 2.0 times as long as one rank, 17 % of the ideal speed-up of 3");
  EXPECT_NE(scene.reason.find("For the remaining 6.83 %, a rank has not started"), std::string::npos) << scene.reason;
}

TEST(RankLanes, RingsStandOnOneAxisWithTheirSharesOfTheTime) {
  const State state = along_ranks();
  const SweepSpec& sweep = state.document.sweep;
  const Model model = model_of({ring_of(sweep, 3, 3, 642), ring_of(sweep, 2, 2, 642)});
  EXPECT_TRUE(has_rank_lanes(state, model));
  const RankLanesScene scene = rank_lanes(state, model);
  ASSERT_EQ(scene.empty, "");
  ASSERT_EQ(scene.rings.size(), 2U);
  EXPECT_TRUE(scene.values.empty()) << "along ranks all are shown";
  EXPECT_EQ(scene.rings[0].lanes.size(), 2U);
  EXPECT_EQ(scene.rings[1].lanes.size(), 3U);
  EXPECT_DOUBLE_EQ(scene.rings[0].us, 211);
  EXPECT_DOUBLE_EQ(scene.rings[1].us, 322);
  EXPECT_DOUBLE_EQ(scene.rings[0].ideal_us, 321);
  EXPECT_DOUBLE_EQ(scene.rings[1].ideal_us, 214);
  EXPECT_DOUBLE_EQ(scene.us, 322) << "the ideal of two lies before the end of three";
  const RingLanes& three = scene.rings[1];
  EXPECT_DOUBLE_EQ(share_of_work(three, RankWork::compute), 300.0 / 322);
  EXPECT_DOUBLE_EQ(share_of_work(three, RankWork::wait), 20.0 / 322);
  EXPECT_DOUBLE_EQ(share_of_work(three, RankWork::send), 80.0 / 322);
  EXPECT_EQ(three.pace, "322 µs: 2.0 times as fast as one rank, 66 % of the ideal 3");
  EXPECT_EQ(scene.headline, "cpu_flash, ring of 3: " + three.pace);
  EXPECT_NE(scene.reason.find("compute for 93.2 % of the time and wait for 6.21 %"), std::string::npos) << scene.reason;
  EXPECT_NE(three.lanes[0].tip.find("computes for 300 µs, 93.2 % of the time"), std::string::npos);
  EXPECT_NE(three.words.find("dealt in order; K and V over sockets"), std::string::npos) << three.words;
}

// 211 us measured where the model says 200, which is 5.5 % more; four would take 107, a sixth of 642.
TEST(RankLanes, ForecastsStandBelowTheRingThatTheyWereMadeFrom) {
  const State state = along_ranks();
  const SweepSpec& sweep = state.document.sweep;
  Measurement two = ring_of(sweep, 2, 2, 642);
  two.ranks->forecasts = {{4, 107}, {2, 200}};
  const RankLanesScene scene = rank_lanes(state, model_of({two, ring_of(sweep, 3, 3, 642)}));
  ASSERT_EQ(scene.rings.size(), 2U);
  const std::vector<ForecastLane>& lanes = scene.rings[0].forecasts;
  ASSERT_EQ(lanes.size(), 2U);
  EXPECT_EQ(lanes[0].name, "2 GPUs");
  EXPECT_EQ(lanes[0].words, "forecast 200 µs; measured 5.5 % more");
  EXPECT_EQ(lanes[1].name, "4 GPUs");
  EXPECT_EQ(lanes[1].us, 107);
  EXPECT_EQ(lanes[1].words, "forecast 107 µs: 6.00 times as fast as one GPU");
  EXPECT_TRUE(scene.rings[1].forecasts.empty()) << "of processes there is no model";
}

TEST(RankLanes, AForecastThatIsLongerThanTheRingFitsTheAxis) {
  const State state = along_ranks();
  Measurement two = ring_of(state.document.sweep, 2, 2, 0);
  two.ranks->forecasts = {{2, 500}, {8, 90}};
  const RankLanesScene scene = rank_lanes(state, model_of({two}));
  EXPECT_DOUBLE_EQ(scene.us, 500);
  EXPECT_EQ(scene.rings[0].forecasts[0].words, "forecast 500 µs; measured 57.8 % less");
  EXPECT_EQ(scene.rings[0].forecasts[1].words, "forecast 90.0 µs") << "one GPU was not measured";
}

TEST(RankLanes, WhatLiesAtAMomentIsFoundByItsKind) {
  const State state = along_ranks();
  const RankLanesScene scene = rank_lanes(state, model_of({ring_of(state.document.sweep, 3, 3, 0)}));
  ASSERT_EQ(scene.rings.size(), 1U);
  EXPECT_EQ(scene.rings[0].ideal_us, 0);
  EXPECT_EQ(scene.rings[0].pace, "322 µs");
  const RingLanes& ring = scene.rings[0];
  const RankLane& lane = ring.lanes[1];  // begins at 1 us
  EXPECT_TRUE(std::ranges::is_sorted(lane.spans, {}, &RankSpan::begin_us));
  EXPECT_EQ(span_at(lane, RankWork::compute, 0.5), nullptr);
  ASSERT_NE(span_at(lane, RankWork::compute, 150), nullptr);
  EXPECT_EQ(span_at(lane, RankWork::compute, 150)->turn, 1);
  EXPECT_EQ(span_at(lane, RankWork::compute, 105), nullptr);
  ASSERT_NE(span_at(lane, RankWork::wait, 105), nullptr);
  EXPECT_EQ(span_words(ring, lane, *span_at(lane, RankWork::wait, 105), scene.unit),
            "rank 1 waits after turn 0: 10.0 µs\nfrom 101 µs to 111 µs");
  EXPECT_EQ(span_at(lane, RankWork::send, 45), nullptr);
  ASSERT_NE(span_at(lane, RankWork::send, 40), nullptr);
}

// Along L a ring is shown at the value that is looked at.
TEST(RankLanes, AlongAnotherAxisOneValueIsShown) {
  State state = sweep_state();
  const SweepSpec& sweep = state.document.sweep;
  const Model model =
      model_of({ring_of(sweep, 2, 512, 400), ring_of(sweep, 2, 1024, 400), timed_row(sweep, "cpu_flash", 2048, 99)});
  RankLanesScene scene = rank_lanes(state, model);
  EXPECT_EQ(scene.values, (std::vector<std::int64_t>{512, 1024}));
  EXPECT_EQ(scene.value, 1024);
  ASSERT_EQ(scene.rings.size(), 1U);
  state.view.bench.value = 512;
  scene = rank_lanes(state, model);
  EXPECT_EQ(scene.value, 512);
  EXPECT_NE(scene.rings.at(0).words.find("L=512"), std::string::npos);
}

TEST(RankLanes, ABackwardsSumsTravelWithTheirKeys) {
  const State state = along_ranks();
  Measurement m = ring_of(state.document.sweep, 2, 2, 400);
  m.key.problem.pass = Pass::backward;
  m.ranks->travels = {Tensor::k, Tensor::v, Tensor::d_k, Tensor::d_v};
  const RankLanesScene scene = rank_lanes(state, model_of({m}));
  ASSERT_EQ(scene.rings.size(), 1U);
  EXPECT_TRUE(scene.rings[0].sums);
  EXPECT_NE(scene.reason.find("A wait ends when a share of K and V or of dK and dV arrives."), std::string::npos)
      << scene.reason;
  EXPECT_NE(scene.rings[0].words.find("K, V, dK and dV over sockets"), std::string::npos) << scene.rings[0].words;
}

// What is told of a lane's spans in the order of their beginning, without times.
std::vector<std::string> told(const RankLanesScene& scene, RankWork work) {
  const RingLanes& ring = scene.rings.at(0);
  std::vector<std::string> all;
  for (const RankSpan& s : ring.lanes.at(1).spans) {
    if (s.work != work) continue;
    const std::string words = span_words(ring, ring.lanes[1], s, scene.unit);
    all.push_back(words.substr(0, words.find(':')));
  }
  return all;
}

// A backward's spans by hand, as rank_run.cpp and rank.cpp lay them down: a step of 10 us each.
Measurement backward_ring(const SweepSpec& sweep, Carrier carrier, const std::vector<RankSpan>& of_rank_1) {
  Measurement m = ring_of(sweep, 3, 3, 400);
  m.key.problem.pass = Pass::backward;
  m.ranks->carrier = carrier;
  m.ranks->travels = {Tensor::k, Tensor::v, Tensor::d_k, Tensor::d_v};
  m.ranks->devices[1].spans = of_rank_1;
  for (std::size_t n = 0; n < of_rank_1.size(); ++n) {
    RankSpan& s = m.ranks->devices[1].spans[n];
    s.begin_us = 10 * static_cast<double>(n), s.end_us = s.begin_us + 10;
  }
  return m;
}

using Words = std::vector<std::string>;

TEST(RankLanes, OnGpusSumsTravelByThemselvesAndNoTurnIsToldThatIsNone) {
  using enum RankWork;
  const State state = along_ranks();
  const auto scene = rank_lanes(state, model_of({backward_ring(state.document.sweep, Carrier::copy_engine,
                                                               {{compute, 0},
                                                                {send, 0},
                                                                {wait, 0},
                                                                {compute, 1},
                                                                {send, 1},
                                                                {send, 1},
                                                                {wait, 1},
                                                                {compute, 1},
                                                                {wait, 1},
                                                                {compute, 2},
                                                                {send, 2},
                                                                {wait, 2},
                                                                {compute, 2},
                                                                {send, 3},
                                                                {compute, 3},
                                                                {wait, 3},
                                                                {compute, 3}})}));
  EXPECT_EQ(told(scene, send), (Words{"rank 1 sends its share of turn 0", "rank 1 sends K and V of turn 1",
                                      "rank 1 sends dK and dV of turn 0", "rank 1 sends dK and dV of turn 1",
                                      "rank 1 sends dK and dV home"}));
  EXPECT_EQ(told(scene, wait),
            (Words{"rank 1 waits after turn 0", "rank 1 waits for dK and dV in turn 1", "rank 1 waits after turn 1",
                   "rank 1 waits for dK and dV in turn 2", "rank 1 waits for dK and dV of its keys"}));
  EXPECT_EQ(told(scene, compute),
            (Words{"rank 1 computes turn 0", "rank 1 computes turn 1", "rank 1 adds up dK and dV of turn 1",
                   "rank 1 computes turn 2", "rank 1 adds up dK and dV of turn 2", "rank 1 rounds dQ",
                   "rank 1 rounds dK and dV of its keys"}));
}

TEST(RankLanes, OverSocketsSumsTravelWithTheKeysOfTheNextTurn) {
  using enum RankWork;
  const State state = along_ranks();
  std::vector<RankSpan> spans;
  for (const std::int64_t turn : {0, 1, 2})
    for (const RankWork work : {compute, send, receive, wait, compute}) spans.push_back({work, turn});
  for (const RankWork work : {compute, send, receive, wait, compute}) spans.push_back({work, 3});
  const auto scene = rank_lanes(state, model_of({backward_ring(state.document.sweep, Carrier::sockets, spans)}));
  EXPECT_EQ(told(scene, send),
            (Words{"rank 1 sends its share of turn 0", "rank 1 sends K and V of turn 1, and dK and dV of turn 0",
                   "rank 1 sends dK and dV of turn 1", "rank 1 sends dK and dV home"}));
  EXPECT_EQ(
      told(scene, receive),
      (Words{"rank 1 receives the share for turn 1", "rank 1 receives K and V for turn 2, and dK and dV for turn 1",
             "rank 1 receives dK and dV for turn 2", "rank 1 receives dK and dV of its keys"}));
  EXPECT_EQ(told(scene, wait),
            (Words{"rank 1 waits after turn 0", "rank 1 waits after turn 1", "rank 1 waits for dK and dV in turn 2",
                   "rank 1 waits for dK and dV of its keys"}));
  EXPECT_EQ(told(scene, compute).back(), "rank 1 rounds dK and dV of its keys");
}

TEST(RankLanes, RowsWithoutSpansHaveNone) {
  const State state = along_ranks();
  Measurement bare = ring_of(state.document.sweep, 2, 2, 400);
  for (Rank& r : bare.ranks->devices) r.spans.clear();
  const Model model = model_of({bare});
  EXPECT_FALSE(has_rank_lanes(state, model));
  EXPECT_NE(rank_lanes(state, model).empty.find("attnscope ring -o"), std::string::npos);
  EXPECT_FALSE(has_rank_lanes(state, Model()));
  EXPECT_FALSE(rank_lanes(state, Model()).empty.empty());
}

TEST(RankLanes, CsvHasALineASpan) {
  const State state = along_ranks();
  const std::string csv = rank_lanes_csv(rank_lanes(state, model_of({ring_of(state.document.sweep, 2, 2, 400)})));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 2 * 5);
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "kernel,ranks,rank,turn,work,begin_us,end_us");
  EXPECT_NE(csv.find("\ncpu_flash,2,1,0,wait,101.000,111.000\n"), std::string::npos) << csv;
}

}  // namespace
}  // namespace attn
