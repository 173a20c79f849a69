// A sweep with peers on doubles: the order of the turns, what a row holds, what is measured again.
#include "app/peers/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "app/worker/bench.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/peers.h"
#include "profiling/measure/point.h"
#include "profiling/spec/sweep_point.h"
#include "tests/app/peers/double.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

GpuClient::Starter double_worker() {
  return [] { return Child::copy([](Socket& socket) { return work(socket, parts_with({})); }); };
}

GpuBench::CompilerOpener no_compiler() {
  return []() -> Result<std::unique_ptr<gpu::Compiler>> { return fail(ErrorKind::cannot_run, "there is none here"); };
}

SweepSpec small_sweep() {
  SweepSpec s;
  s.kernels = {"naive", "tiled"};
  s.values = {5, 6};
  s.base.D = s.base.Dv = 8;
  s.seconds_per_point = 0.01;
  s.verify = false;
  s.peers = {"torch-efficient", "torch-math"};
  return s;
}

struct Swept {
  std::vector<Measurement> rows;
  std::vector<std::string> turns;  // whose turn it was, in their order
};

Swept sweep(const SweepSpec& s, PeerSetup setup, std::span<const Measurement> kept = {}) {
  GpuBench gpu(double_worker(), no_compiler(), {});
  PeerBench peers(std::move(setup), &gpu);
  SweepCallbacks callbacks;
  callbacks.gpu = gpu.runner(s, {});
  callbacks.peers = peers.source(s);
  callbacks.kept = kept;
  Swept swept;
  callbacks.progress = [&](const SweepProgress& p) {
    const std::size_t end = p.now.find(", a turn"), begin = p.now.rfind(": ", end);
    if (end != std::string::npos) swept.turns.push_back(p.now.substr(begin + 2, end - begin - 2));
  };
  auto rows = run_sweep(s, callbacks, {});
  EXPECT_TRUE(rows);
  if (rows) swept.rows = *std::move(rows);
  return swept;
}

PeerSetup setup_with(PeerFault fault = {}, const std::string& device = "a double") {
  PeerSetup setup;
  setup.seconds = 20;
  setup.start = double_peer(std::move(fault), device);
  return setup;
}

std::vector<const Measurement*> peers_of(const std::vector<Measurement>& rows) {
  std::vector<const Measurement*> peers;
  for (const Measurement& m : rows)
    if (m.peer) peers.push_back(&m);
  return peers;
}

TEST(PeerBench, TurnsGoForwardsAndBackwardsForEachProblem) {
  const Swept swept = sweep(small_sweep(), setup_with());
  const std::string efficient = "torch's memory-efficient", math = "torch's plain";
  const std::vector<std::string> once{"naive", "tiled", efficient, math, math, efficient, "tiled", "naive"};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(swept.turns, twice);
}

TEST(PeerBench, ARowHasItsTimesAndWhatOursTookInItsTurns) {
  const Swept swept = sweep(small_sweep(), setup_with());
  ASSERT_EQ(swept.rows.size(), 8U);
  for (const Measurement* m : peers_of(swept.rows)) {
    EXPECT_EQ(m->state, RowState::done) << m->reason;
    EXPECT_EQ(m->key.device, "a double");
    EXPECT_EQ(m->key.l2, L2State::cold);
    EXPECT_DOUBLE_EQ(m->time.median, 200);
    EXPECT_EQ(m->time.n % 2, 0);  // two turns of as many repeats
    EXPECT_GE(m->time.n, 6);
    EXPECT_EQ(m->peer->software, "a double 1.0");
    ASSERT_EQ(m->peer->beside.size(), 2U);
    EXPECT_EQ(m->peer->beside.front().kernel, "naive");
    EXPECT_DOUBLE_EQ(m->peer->beside.front().time.median, 250);
    EXPECT_DOUBLE_EQ(figure(*m, "speedup_ratio").value, 1.25);  // of the baseline in these turns, not of its row
    EXPECT_FALSE(figure(*m, "dram_read_bytes").available());
  }
  const Measurement& naive = swept.rows.front();
  const TimedBeside* turn = beside(*peers_of(swept.rows).front(), naive);
  ASSERT_NE(turn, nullptr);
  EXPECT_EQ(turn->kernel, "naive");
  Measurement other = naive;
  other.key.options.br = 7;
  EXPECT_EQ(beside(*peers_of(swept.rows).front(), other), nullptr);
}

TEST(PeerBench, APackageStandsBesideTorchInTheSoftwareOfItsRowAlone) {
  SweepSpec s = small_sweep();
  s.peers = {"flash-attn", "torch-math"};
  const Swept swept = sweep(s, setup_with());
  for (const Measurement* m : peers_of(swept.rows)) {
    EXPECT_EQ(m->state, RowState::done) << m->reason;
    EXPECT_EQ(m->peer->software, m->key.kernel == "flash-attn" ? "a double 1.0, flash_attn 2.0" : "a double 1.0");
  }
}

TEST(PeerBench, APeerThatBreaksIsOneRowAndTheOthersTakeTheirTurns) {
  const Swept swept = sweep(small_sweep(), setup_with({"turn", PeerFault::How::die}));
  const auto peers = peers_of(swept.rows);
  ASSERT_EQ(peers.size(), 4U);
  EXPECT_EQ(peers[0]->state, RowState::failed);
  EXPECT_NE(peers[0]->reason.find("signal 9"), std::string::npos) << peers[0]->reason;
  EXPECT_EQ(peers[0]->time.n, 0);
  for (std::size_t n = 1; n < 4; ++n) EXPECT_EQ(peers[n]->state, RowState::done) << peers[n]->reason;
}

TEST(PeerBench, AWrongAnswerIsJudgedAsOursIs) {
  SweepSpec s = small_sweep();
  s.verify = true;
  s.kernels = {"naive"};
  GpuBench gpu(double_worker(), no_compiler(), {});
  PeerBench peers(setup_with(), &gpu);
  PeerRound round;
  round.point = point_at(s, **find_kernel("naive"), 5);
  round.peers = {"torch-math"};
  Measurement ours = empty_row(round.point, Processor::gpu);
  ours.key.options.threads = 256;
  ours.key.device = "a double";
  ours.time.n = 5;
  ours.time.median = 3;
  round.ours = std::span(&ours, 1);
  const auto rows = peers.source(s).measure(round, [](const std::string&) {}, {});
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_TRUE(rows.front().verdict);
  EXPECT_EQ(outcome_of(*rows.front().verdict), Outcome::wrong);  // it answers with zeros
  EXPECT_TRUE(rows.front().verdict->no_lse());
}

TEST(PeerBench, AnotherGpuThanOursIsNoPeer) {
  const Swept swept = sweep(small_sweep(), setup_with({}, "another GPU"));
  for (const Measurement* m : peers_of(swept.rows)) {
    EXPECT_EQ(m->state, RowState::failed);
    EXPECT_NE(m->reason.find("another GPU"), std::string::npos) << m->reason;
  }
}

TEST(PeerBench, FinishedPeersAreNotMeasuredAgainUnlessOneOfOursIsNew) {
  SweepSpec s = small_sweep();
  s.kernels = {"naive"};
  const Swept first = sweep(s, setup_with());
  const Swept again = sweep(s, setup_with(), first.rows);
  EXPECT_TRUE(again.turns.empty());
  EXPECT_EQ(peers_of(again.rows).size(), 4U);
  s.kernels = {"naive", "tiled"};
  EXPECT_EQ(sweep(s, setup_with(), first.rows).turns.size(), 16U);
}

TEST(PeerBench, FilesOfOneNameAreToldByTheirFolders) {
  EXPECT_EQ(ids_of({"/a/mine.py", "/b/mine.py", "/b/other.py"}),
            (std::vector<std::string>{"/a/mine.py", "/b/mine.py", "other.py"}));
  EXPECT_EQ(ids_of({"/a/torch-math"}), std::vector<std::string>{"/a/torch-math"});
}

}  // namespace
}  // namespace attn
