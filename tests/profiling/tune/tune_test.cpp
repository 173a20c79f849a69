// How a tile is chosen, with times that the test makes up.
#include "profiling/tune/tune.h"
#include "profiling/measure/point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"

namespace attn {
namespace {

// A machine whose times are a function of the tile; its clock goes on by what each run takes.
class Machine {
 public:
  std::function<double(const Options&)> us = [](const Options& o) { return 1000.0 + o.br + o.bc; };
  std::function<bool(const Options&)> right = [](const Options&) { return true; };
  double spread = 0.002;  // of repeats, up and down in turn
  double each_s = 0.01;   // what trying one tile takes
  std::vector<Options> tried, turns;
  bool let_go = false;
  std::function<bool(const Options&)> loses = [](const Options&) { return false; };  // ptxas says so
  std::function<void()> on_measure = [] {};

  TuneCallbacks callbacks(const Device& device) {
    TuneCallbacks c;
    c.device = device;
    c.clock = [this] { return now_; };
    c.measure = [this](const Point& p, const std::stop_token&) { return measure(p); };
    c.turn = [this](const Point& p, const Turn& turn, const std::stop_token&) -> Result<std::vector<double>> {
      turns.push_back(p.options);
      now_ += 1e-6 * us(p.options) * turn.repeats;
      return samples(p.options, turn.repeats);
    };
    c.let_go = [this] { let_go = true; };
    return c;
  }

 private:
  std::vector<double> samples(const Options& o, std::int32_t n) const {
    std::vector<double> list;
    for (std::int32_t i = 0; i < n; ++i) list.push_back(us(o) * (1 + (i % 2 == 0 ? spread : -spread)));
    return list;
  }
  Measurement measure(const Point& p) {
    tried.push_back(p.options);
    now_ += each_s;
    on_measure();
    Measurement m = empty_row(p, Processor::cpu);
    m.clock = "the test's";
    m.time = statistics_of(samples(p.options, 8));
    Verdict v;
    v.pass = right(p.options);
    if (!v.pass) v.reason = "row 3 is off";
    m.verdict = v;
    if (loses(p.options)) m.warnings = {"ptxas info : (C7512) Potential Performance Loss: serialized"};
    fill_figures(m);
    return m;
  }
  double now_ = 0;
};

TuneSpec cpu_spec() {
  TuneSpec s;
  s.kernel = "cpu_flash";
  s.problem.Lq = s.problem.Lk = 256;
  s.problem.D = s.problem.Dv = 16;
  s.options.threads = 1;
  return s;
}

TuneResult tuned(Machine& machine, const TuneSpec& s = cpu_spec(), const std::stop_token& stop = {}) {
  const auto r = tune(s, machine.callbacks(cpu_device()), stop);
  EXPECT_TRUE(r) << r.error().message;
  return r.value_or(TuneResult{});
}

TEST(Tune, ChoosesTheFastestThatBeatsTheUsualBeyondTheNoise) {
  Machine m;
  m.us = [](const Options& o) { return o.br == 96 && o.bc == 32 ? 500.0 : 1000.0; };
  const TuneResult r = tuned(m);
  ASSERT_EQ(r.decision, TuneDecision::faster) << r.words;
  EXPECT_EQ(r.tiles[r.chosen].tile.options.br, 96);
  EXPECT_EQ(r.tiles[r.chosen].tile.options.bc, 32);
  EXPECT_EQ(r.tried(), r.fitting());
  EXPECT_NE(r.words.find("2.000 times as fast"), std::string::npos) << r.words;
  EXPECT_TRUE(m.let_go);
}

TEST(Tune, WithinTheNoiseTheUsualTileIsKept) {
  Machine m;
  m.spread = 0.05;
  m.us = [](const Options& o) { return o.br == 96 && o.bc == 32 ? 990.0 : 1000.0; };
  const TuneResult r = tuned(m);
  ASSERT_EQ(r.decision, TuneDecision::cannot_tell) << r.words;
  EXPECT_EQ(r.chosen, r.usual);
  EXPECT_NE(r.words.find("can't tell"), std::string::npos) << r.words;
}

TEST(Tune, WhereTheUsualTileIsTheFastestItIsKept) {
  Machine m;
  m.us = [](const Options& o) { return o.br == 64 && o.bc == 64 ? 500.0 : 1000.0; };
  const TuneResult r = tuned(m);
  EXPECT_EQ(r.decision, TuneDecision::usual_best) << r.words;
  EXPECT_EQ(r.chosen, r.usual);
}

TEST(Tune, AWrongTileIsNeverChosenHoweverFast) {
  Machine m;
  m.us = [](const Options& o) { return o.br == 96 && o.bc == 32 ? 10.0 : o.br == 32 && o.bc == 32 ? 500.0 : 1000.0; };
  m.right = [](const Options& o) { return o.br != 96; };
  const TuneResult r = tuned(m);
  ASSERT_EQ(r.decision, TuneDecision::faster) << r.words;
  EXPECT_EQ(r.tiles[r.chosen].tile.options.br, 32);
  const auto wrong = std::ranges::find(r.tiles, TileFate::wrong, &TriedTile::fate);
  ASSERT_NE(wrong, r.tiles.end());
  EXPECT_EQ(wrong->why, "row 3 is off");
}

TEST(Tune, ATileThatLosesIsDroppedWithTheCompilersReason) {
  Machine m;
  m.us = [](const Options& o) { return o.br == 96 && o.bc == 32 ? 10.0 : o.br == 32 && o.bc == 32 ? 500.0 : 1000.0; };
  m.loses = [](const Options& o) { return o.br == 96; };
  const TuneResult r = tuned(m);
  ASSERT_EQ(r.decision, TuneDecision::faster) << r.words;
  EXPECT_EQ(r.tiles[r.chosen].tile.options.br, 32);
  const auto lost = std::ranges::find_if(r.tiles, [](const TriedTile& t) { return t.tile.options.br == 96; });
  ASSERT_NE(lost, r.tiles.end());
  EXPECT_EQ(lost->fate, TileFate::failed);
  EXPECT_NE(lost->why.find("Potential Performance Loss"), std::string::npos);
}

TEST(Tune, AWrongUsualTileLeavesNothingToBeat) {
  Machine m;
  m.right = [](const Options& o) { return o.br != 64 || o.bc != 64; };
  const TuneResult r = tuned(m);
  EXPECT_FALSE(r.decision);
  EXPECT_NE(r.words.find("The usual tile 64 x 64 could not be timed"), std::string::npos) << r.words;
}

TEST(Tune, TheBestTakeTurnsWithTheUsualThereAndBack) {
  Machine m;
  const TuneResult r = tuned(m);
  ASSERT_GE(m.turns.size(), 8U);
  EXPECT_EQ(m.turns[0], r.tiles[r.usual].tile.options);
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(m.turns[n], m.turns[7 - n]) << n;
  std::set<std::pair<std::int32_t, std::int32_t>> sides;
  for (const Options& o : m.turns) sides.emplace(o.br, o.bc);
  EXPECT_EQ(sides.size(), 4U);  // three and the usual one
}

TEST(Tune, OutOfTimeTheRestIsNotTriedAndTheSentenceSaysSo) {
  Machine m;
  m.each_s = 1;
  m.us = [](const Options& o) { return o.br == 64 && o.bc == 48 ? 500.0 : 1000.0; };
  TuneSpec s = cpu_spec();
  s.budget_s = 10;
  const TuneResult r = tuned(m, s);
  EXPECT_EQ(m.tried.size(), 8U);  // 70 % of the budget, and the one that was going on
  ASSERT_EQ(r.decision, TuneDecision::faster) << r.words;
  EXPECT_NE(r.words.find(fmt::format("8 of {} tiles were tried within the budget of 10 s", r.fitting())),
            std::string::npos)
      << r.words;
}

TEST(Tune, CancelledItKeepsWhatWasTriedAndChoosesNothing) {
  Machine m;
  std::stop_source stop;
  m.on_measure = [&] {
    if (m.tried.size() == 5) stop.request_stop();
  };
  const TuneResult r = tuned(m, cpu_spec(), stop.get_token());
  EXPECT_FALSE(r.decision);
  EXPECT_EQ(r.tried(), 5U);
  EXPECT_TRUE(m.turns.empty());
  EXPECT_NE(r.words.find("Cancelled after 5"), std::string::npos) << r.words;
}

TEST(Tune, ThreadsAndStagesOfTheFastestTilesComeFirst) {
  Machine m;
  m.us = [](const Options& o) { return o.br == 32 && o.bc == 32 ? 500.0 : 1000.0; };
  TuneSpec s;
  s.kernel = "flash_mma";
  s.problem.dtype = DType::f16;
  s.problem.Lq = s.problem.Lk = 4096;
  s.problem.D = s.problem.Dv = 64;
  const auto r = tune(s, m.callbacks(*gpu::device_for("sm_90a")), {});
  ASSERT_TRUE(r) << r.error().message;
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  std::size_t second = 0;
  while (second < m.tried.size() && seen.emplace(m.tried[second].br, m.tried[second].bc).second) ++second;
  ASSERT_LT(second, m.tried.size());
  EXPECT_EQ(m.tried[second].br, 32);
  EXPECT_EQ(m.tried[second].bc, 32);
}

TEST(Tune, ProgressGrowsAndKnowsTheTimeLeft) {
  Machine m;
  std::vector<TuneProgress> told;
  TuneCallbacks c = m.callbacks(cpu_device());
  c.progress = [&](const TuneProgress& p) { told.push_back(p); };
  ASSERT_TRUE(tune(cpu_spec(), c, {}));
  ASSERT_GT(told.size(), 4U);
  EXPECT_EQ(told.front().seconds_left, -1);
  for (std::size_t n = 1; n < told.size(); ++n) {
    EXPECT_GE(told[n].done, told[n - 1].done);
    EXPECT_GE(told[n].seconds_left, 0);
    EXPECT_LE(told[n].fraction, 1);
  }
}

TEST(Tune, WithoutACheckNothingIsChosenSoItIsRefused) {
  TuneSpec s = cpu_spec();
  s.verify = false;
  const auto r = tune(s, Machine().callbacks(cpu_device()), {});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("check cannot be off"), std::string::npos);
}

TEST(JudgeTurns, TooFewRepeatsCannotTell) {
  const TimeStatistics usual = statistics_of(std::vector<double>{100, 100, 100, 100});
  const std::vector<TimeStatistics> others{statistics_of(std::vector<double>{50, 50, 50, 50})};
  const TurnsVerdict v = judge_turns(usual, others);
  EXPECT_EQ(v.decision, TuneDecision::cannot_tell);
  EXPECT_NE(v.words.find("too few"), std::string::npos) << v.words;
}

}  // namespace
}  // namespace attn
