// What Bench makes of rows of peers: references beside ours, never among them.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "profiling/figures/peers.h"
#include "tests/viz/bench/scene_fixture.h"
#include "viz/bench/ladder/ladder.h"
#include "viz/bench/sweep/sweep_choices.h"
#include "viz/draw/kernel_looks.h"

namespace attn {
namespace {

using namespace bench_test;

TimeStatistics times_of(double median_us) {
  TimeStatistics t;
  t.n = 24;
  t.median = median_us;
  t.q1 = t.ci_low = 0.99 * median_us;
  t.q3 = t.ci_high = 1.01 * median_us;
  return t;
}

class BenchPeers : public BenchSceneTest {
 protected:
  // A peer that took `us` where cpu_flash took `ours_us` in its turns.
  Measurement peer(std::string id, std::string title, std::int64_t value, double us, double ours_us) const {
    Measurement m = timed_row(sweep, id, value, us);
    m.time = times_of(us);
    const Measurement ours = timed_row(sweep, "cpu_flash", value, ours_us);
    m.key.options = {};
    m.peer = PeerFacts{std::move(title), "torch 2.11.0", "", {{"cpu_flash", ours.key.options, times_of(ours_us)}}};
    return m;
  }
  // cpu_flash takes 1024 us in its own row, at 512.
  Model with_peer(double us, double ours_us) const {
    Model m = model_of({timed_row(sweep, "cpu_multicore", 512, 5120), timed_row(sweep, "cpu_flash", 512, 1024),
                        peer("torch-cpu", "torch on the CPU", 512, us, ours_us)});
    return m;
  }
  std::string peers_line(const Model& m) const {
    const std::string reason = scene(m).verdict.reason;
    const std::size_t at = reason.find("Peers: ");
    return at == std::string::npos ? "" : reason.substr(at, reason.find('\n', at) - at);
  }
};

TEST_F(BenchPeers, TheVerdictSaysWhatShareOfThePeersSpeedIsReachedInItsTurns) {
  EXPECT_EQ(peers_line(with_peer(970, 1000)),
            "Peers: It has 0.97× the speed of torch on the CPU (n = 24), timed alternately.");
  EXPECT_EQ(peers_line(with_peer(1300, 1000)),
            "Peers: It has 1.30× the speed of torch on the CPU (n = 24), timed alternately.");
  EXPECT_EQ(peers_line(with_peer(1001, 1000)), "Peers: It is as fast as torch on the CPU (n = 24), timed alternately.");
}

// Its ratio does not follow from the two times of the table, so the note says what it is over.
TEST_F(BenchPeers, TheTableSaysWhatAPeersRatioIsOver) {
  Model m = with_peer(970, 1000);
  EXPECT_EQ(scene(m).table.note.find("in its turns"), std::string::npos) << "the baseline was not timed beside it";
  for (Measurement& row : rows_of(m))
    if (row.peer) row.peer->beside.push_back({"cpu_multicore", {}, times_of(5000)});
  EXPECT_NE(scene(m).table.note.find(
                "For a peer, × cpu_multicore uses the time that cpu_multicore took in the peer's turns."),
            std::string::npos)
      << scene(m).table.note;
}

// Every number of the sentence is a field: it changes with it, or goes.
TEST_F(BenchPeers, TheSentenceFollowsItsFields) {
  Model m = with_peer(970, 1000);
  PeerFacts& facts = *rows_of(m)[2].peer;
  facts.title = "another";
  facts.beside[0].time.n = 7;
  EXPECT_EQ(peers_line(m), "Peers: It has 0.97× the speed of another (n = 7), timed alternately.");
  facts.beside[0].time.ci_low = 900;
  facts.beside[0].time.ci_high = 1100;
  EXPECT_EQ(peers_line(m), "Peers: It cannot be distinguished from another (n = 7), timed alternately.");
  facts.beside[0].options.br = 7;  // another tile than that of the row
  EXPECT_EQ(peers_line(m), "");
}

TEST_F(BenchPeers, SeveralPeersStandInOneSentence) {
  const Model m = model_of({timed_row(sweep, "cpu_multicore", 512, 5120), timed_row(sweep, "cpu_flash", 512, 1024),
                            peer("a.py", "A", 512, 500, 1000), peer("b.py", "B", 512, 1001, 1000),
                            peer("c.py", "C", 512, 14000, 1000)});
  EXPECT_EQ(peers_line(m),
            "Peers: It has 0.50× the speed of A (n = 24), 14× the speed of C (n = 24) and is as fast as B (n = 24), "
            "timed alternately.");
}

TEST_F(BenchPeers, AWrongOrRefusedPeerIsNotComparedWith) {
  Model m = with_peer(970, 1000);
  rows_of(m)[2].verdict->pass = false;
  EXPECT_EQ(peers_line(m), "");
  EXPECT_NE(scene(m).verdict.reason.find("Wrong output from torch on the CPU"), std::string::npos);
  m = with_peer(970, 1000);
  rows_of(m)[2].state = RowState::refused;
  rows_of(m)[2].time = {};
  EXPECT_EQ(peers_line(m), "");
}

// Its time is by another protocol than the rows of ours: no sentence but that one compares them.
TEST_F(BenchPeers, AFastPeerIsNeitherTheSubjectNorTheBaseline) {
  const Model m = with_peer(1, 1000);
  const auto s = scene(m);
  EXPECT_EQ(s.verdict.kernel, "cpu_flash");
  EXPECT_EQ(s.verdict.headline, "At L = 512, cpu_flash is 5.0 times as fast as cpu_multicore.");
  const Model alone = model_of({timed_row(sweep, "cpu_multicore", 512, 5120), peer("torch-cpu", "torch", 512, 9, 10)});
  EXPECT_EQ(scene(alone).verdict.headline, "At L = 512, cpu_multicore takes 5.12 ms.");
}

TEST_F(BenchPeers, ItsLineIsAReferenceAfterOurs) {
  const auto s = scene(with_peer(970, 1000));
  const BenchLine* line = line_of(time_of(s), "torch-cpu");
  ASSERT_NE(line, nullptr);
  EXPECT_TRUE(line->peer);
  EXPECT_FALSE(line_of(time_of(s), "cpu_flash")->peer);
  EXPECT_EQ(s.kernels.back(), "torch-cpu");
  EXPECT_EQ(cell(s.table, "torch-cpu", "time_us_median").empty(), false);
}

// The strip, the charts and the table call it the same; its id, which files have, is in a tooltip.
TEST_F(BenchPeers, ItHasOneNameEverywhere) {
  const Model m = with_peer(970, 1000);
  const auto s = scene(m);
  EXPECT_NE(peers_line(m).find("torch on the CPU"), std::string::npos);
  EXPECT_EQ(line_of(time_of(s), "torch-cpu")->label, "torch on the CPU");
  EXPECT_EQ(row_of(s.table, "torch-cpu").label, "torch on the CPU");
  EXPECT_EQ(row_of(s.table, "torch-cpu").id, line_of(time_of(s), "torch-cpu")->id);
  const std::string tip = cell_tip(s.table, "torch-cpu", "time");
  EXPECT_NE(tip.find("torch on the CPU (torch-cpu in files)"), std::string::npos) << tip;
  EXPECT_EQ(row_of(s.table, "cpu_flash").label, "cpu_flash");
}

TEST_F(BenchPeers, ItsSpeedUpIsOverTheBaselineOfItsTurns) {
  Measurement m = peer("torch-cpu", "torch", 512, 500, 1000);
  m.peer->beside.push_back({"cpu_multicore", {}, times_of(2000)});
  const Model model = model_of({timed_row(sweep, "cpu_multicore", 512, 9999), m});
  EXPECT_DOUBLE_EQ(figure(model.runs[0].run.rows[1], "speedup_ratio").value, 4);
}

TEST(PeersMenu, OffersThePeersOfTheDevicesThatAreTicked) {
  SweepSpec sweep;
  PeersView python;
  python.looked = true;
  python.words = "/usr/bin/python3: torch 2.11.0";
  EXPECT_EQ(peers_menu(sweep, python).choices.size(), 1U);
  sweep.kernels = {"flash_mma"};
  const SweepMenu menu = peers_menu(sweep, python);
  ASSERT_EQ(menu.choices.size(), 2U);
  EXPECT_EQ(menu.choices[1].changed.peers,
            (std::vector<std::string>{"torch-flash", "torch-cudnn", "torch-efficient", "torch-math"}));
  EXPECT_NE(menu.help.find(python.words), std::string::npos) << menu.help;
  sweep.kernels = {"cpu_flash"};
  EXPECT_EQ(peers_menu(sweep, python).choices[1].changed.peers, std::vector<std::string>{"torch-cpu"});
}

TEST(PeersMenu, PackagesThatAreThereAreOfferedAndTheHelpSaysWhatIsMissing) {
  SweepSpec sweep;
  sweep.kernels = {"flash_mma"};
  PeersView python;
  python.looked = true;
  python.packages = {{"flash-attn", "not found: /usr/bin/python3 has no flash_attn"},
                     {"flash-attn-3", ""},
                     {"flash-attn-4", "not found: /usr/bin/python3 has no flash_attn.cute"}};
  const SweepMenu menu = peers_menu(sweep, python);
  ASSERT_EQ(menu.choices.size(), 3U);
  EXPECT_EQ(menu.choices[1].words, "torch's");
  EXPECT_EQ(menu.choices[2].changed.peers,
            (std::vector<std::string>{"torch-flash", "torch-cudnn", "torch-efficient", "torch-math", "flash-attn-3"}));
  EXPECT_NE(menu.help.find("flash_attn 2: not found: /usr/bin/python3 has no flash_attn.\n"), std::string::npos)
      << menu.help;
  EXPECT_NE(menu.help.find("has no flash_attn.cute."), std::string::npos) << menu.help;
  EXPECT_EQ(menu.help.find("FlashAttention-3: "), std::string::npos) << menu.help;
  sweep.peers = menu.choices[2].changed.peers;
  EXPECT_EQ(peers_menu(sweep, python).shown, menu.choices[2].words);
  // A session asks for one that is not here: it stays chosen until another is taken.
  sweep.peers = {"flash-attn-4"};
  const SweepMenu other = peers_menu(sweep, python);
  EXPECT_EQ(other.shown, "1 chosen");
  EXPECT_EQ(other.choices.back().changed.peers, sweep.peers);
}

TEST(PeersMenu, WithoutTorchOnlyOffIsOfferedAndTheHelpSaysWhy) {
  SweepSpec sweep;
  sweep.kernels = {"flash_mma"};
  PeersView none;
  none.looked = true;
  none.why_none = "not found: /usr/bin/python3 has no torch";
  const SweepMenu menu = peers_menu(sweep, none);
  EXPECT_EQ(menu.choices.size(), 1U);
  EXPECT_EQ(menu.shown, "off");
  EXPECT_NE(menu.help.find("/usr/bin/python3 has no torch."), std::string::npos) << menu.help;
}

TEST(PeerLooks, EachPeerOfADeviceHasAMarkOfItsOwn) {
  for (const PeerRow& a : peer_table()) {
    EXPECT_EQ(look_of(a.id).kernel, a.id);
    for (const PeerRow& b : peer_table()) {
      if (a.id == b.id || a.processor != b.processor) continue;
      EXPECT_NE(look_of(a.id).mark, look_of(b.id).mark) << a.id << ", " << b.id;
    }
  }
}

// One ratio wherever it stands: the peer's turns have both of its times.
TEST_F(BenchPeers, LadderStripAndTurnsHaveOneRatio) {
  for (const double turns : {400.0, 1000.0, 1500.0}) {
    const Model m = with_peer(970, turns);
    const std::string share = fmt::format("{:.2f}", 970 / turns);
    EXPECT_NE(peers_line(m).find("It has " + share + "× the speed of"), std::string::npos) << peers_line(m);
    state.view.bench.value = 512;
    const LadderScene ladder = ladder_scene(state, m);
    const auto rung = std::ranges::find(ladder.rungs, "cpu_flash", &LadderRung::kernel);
    ASSERT_NE(rung, ladder.rungs.end());
    EXPECT_DOUBLE_EQ(rung->share, 970 / turns);
  }
}

TEST_F(BenchPeers, ATurnThatDiffersFromTheOwnRowIsSaid) {
  EXPECT_EQ(peers_line(with_peer(970, 1500)),
            "Peers: It has 0.65× the speed of torch on the CPU (n = 24), timed alternately. The kernel took 1.50 ms in "
            "the peer's turns and 1.02 ms in its own row.");
  EXPECT_EQ(peers_line(with_peer(970, 1040)).find("own row"), std::string::npos) << "within the noise";
}

}  // namespace
}  // namespace attn
