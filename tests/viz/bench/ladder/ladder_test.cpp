// The ladder: its order, what shares are of, and that every number of its sentences is a field of the measurements.
#include "viz/bench/ladder/ladder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiling/figures/peers.h"
#include "profiling/spec/sweep_point.h"
#include "tests/viz/profile/profile_rows.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_presets.h"
#include "viz/draw/figure_text.h"

namespace attn::bench_test {
namespace {

using profile_test::h100_row;
using profile_test::put;

void set_time(Measurement& m, double us) {
  m.time.n = 9;
  m.time.median = us;
  m.time.q1 = m.time.ci_low = 0.99 * us;
  m.time.q3 = m.time.ci_high = 1.01 * us;
}

// A rung with every figure that sentences read.
Measurement rung(std::string_view kernel, double us) {
  Measurement m = h100_row(kernel, us);
  set_time(m, us);
  put(m, "occupancy_theoretical_pct", 37.5, Origin::compiled);
  m.figures[*find_metric("occupancy_theoretical_pct")].limiter = "registers and shared memory";
  put(m, "spill_bytes", 0, Origin::compiled);
  put(m, "shared_dynamic_bytes", 129024, Origin::compiled);
  put(m, "tensor_pipe_pct", 0.5);
  fill_figures(m);
  return m;
}

Measurement tiled_rung() {
  Measurement m = rung("tiled", 81600);
  m.workspace_bytes = 34359738368ULL;
  put(m, "registers_count", 236, Origin::compiled);
  put(m, "dram_read_bytes", 70e9);
  put(m, "dram_write_bytes", 17.7e9);
  put(m, "occupancy_achieved_pct", 32.5);
  put(m, "shared_wavefronts_count", 5000);
  put(m, "shared_conflicts_count", 110);
  put(m, "tensor_pipe_pct", 0.25);
  fill_figures(m);
  return m;
}

std::string told(const Measurement& a, const Measurement& b, std::string_view lead) {
  for (const LadderSentence& s : ladder_sentences(a, b))
    if (s.lead == lead) return s.words;
  return {};
}

bool says_missing(const Measurement& a, const Measurement& b, std::string_view lead) {
  for (const LadderSentence& s : ladder_sentences(a, b))
    if (s.lead == lead) return s.missing && s.words.find("not available") != std::string::npos;
  return false;
}

TEST(LadderSentences, SayWhatChangedAndWhy) {
  const Measurement a = tiled_rung(), b = rung("flash_simt", 59500);
  EXPECT_EQ(told(a, b, "Time"), "1.37 times as fast as tiled.");
  EXPECT_EQ(told(a, b, "DRAM"), "87.7 GB became 0.779 GB: S and P, which took 34.4 GB, are no longer stored.");
  EXPECT_EQ(
      told(a, b, "Occupancy"),
      "32.5 % became 12.5 % of the warps active: 37.5 % fit on an SM, limited by 254 registers per thread and 126 "
      "KiB of shared memory per block.");
  EXPECT_EQ(told(a, b, "Registers"), "236 became 254 per thread: 256 threads work on a tile of 128 × 128.");
  EXPECT_EQ(told(a, b, "Bank conflicts"), "at most 25.0 % of 1000 passes, previously 2.20 % of 5000 passes.");
  EXPECT_EQ(told(a, b, "Tensor cores"), "busy in 0.500 % of the cycles, previously 0.250 %: they are hardly used.");
}

TEST(LadderSentences, AreReversedWhereTheFiguresAre) {
  const Measurement a = tiled_rung(), b = rung("flash_simt", 59500);
  EXPECT_EQ(told(b, a, "Time"), "takes 1.37 times as long as flash_simt.");
  EXPECT_EQ(told(b, a, "DRAM"), "0.779 GB became 87.7 GB: S and P (34.4 GB) are stored.");
}

TEST(LadderSentences, OfMediansThatOverlapClaimNothing) {
  const Measurement a = rung("tiled", 60000), b = rung("flash_simt", 59500);
  EXPECT_EQ(told(a, b, "Time"), "cannot be distinguished from tiled: the 95 % intervals of the medians overlap.");
}

// Of two that store S the tiles, and else the L2 cache, are a reason where they point the same way as the bytes.
TEST(LadderSentences, AReasonPointsTheWayThatItExplains) {
  Measurement a = tiled_rung(), b = tiled_rung();
  b.key.kernel = "naive";
  put(a, "l2_hit_pct", 50);
  put(b, "l2_hit_pct", 80);
  fill_figures(a), fill_figures(b);
  const double mine = figure(b, "tile_load_bytes").value, its = figure(a, "tile_load_bytes").value;
  ASSERT_LT(mine, 0.9 * its);
  put(b, "dram_read_bytes", 30e9);
  EXPECT_EQ(told(a, b, "DRAM"),
            "87.7 GB became 47.7 GB: its tiles request " + bytes_text(mine) + " instead of " + bytes_text(its) + ".");
  put(b, "dram_read_bytes", 90e9);
  EXPECT_EQ(told(a, b, "DRAM"), "87.7 GB became 108 GB.");
  EXPECT_EQ(told(b, a, "DRAM"), "108 GB became 87.7 GB.");
  put(b, "l2_hit_pct", 20);
  EXPECT_EQ(told(a, b, "DRAM"), "87.7 GB became 108 GB: the L2 cache serves 20.0 % of the requests instead of 50.0 %.");
}

// What each sentence stands on: another value is another sentence, none is said to be missing.
TEST(LadderSentences, ChangeWithTheFieldThatTheyName) {
  const std::pair<const char*, const char*> fields[] = {{"dram_read_bytes", "DRAM"},
                                                        {"dram_write_bytes", "DRAM"},
                                                        {"occupancy_achieved_pct", "Occupancy"},
                                                        {"registers_count", "Registers"},
                                                        {"shared_wavefronts_count", "Bank conflicts"},
                                                        {"shared_conflicts_count", "Bank conflicts"},
                                                        {"tensor_pipe_pct", "Tensor cores"}};
  for (const auto& [metric, lead] : fields) {
    for (const bool first : {true, false}) {
      Measurement a = tiled_rung(), b = rung("flash_simt", 59500);
      const std::string before = told(a, b, lead);
      Measurement& changed = first ? a : b;
      put(changed, metric, figure(changed, metric).value * 3);
      fill_figures(changed);
      EXPECT_NE(told(a, b, lead), before) << metric << " of " << changed.key.kernel;
      Figure& f = changed.figures[*find_metric(metric)];
      f = {};
      f.reason = "the counter is not there";
      EXPECT_TRUE(says_missing(a, b, lead)) << metric << " of " << changed.key.kernel;
      EXPECT_NE(told(a, b, lead).find(changed.key.kernel), std::string::npos);
      EXPECT_NE(told(a, b, lead).find("the counter is not there"), std::string::npos);
    }
  }
}

TEST(LadderSentences, ReasonsChangeWithTheirFields) {
  Measurement a = tiled_rung(), b = rung("flash_simt", 59500);
  a.workspace_bytes /= 2;
  fill_figures(a);
  EXPECT_NE(told(a, b, "DRAM").find("S and P, which took 17.2 GB, are no longer stored"), std::string::npos);
  put(b, "occupancy_theoretical_pct", 50, Origin::compiled);
  EXPECT_NE(told(a, b, "Occupancy").find("50.0 % fit on an SM"), std::string::npos);
  b.figures[*find_metric("occupancy_theoretical_pct")] = {};
  EXPECT_EQ(told(a, b, "Occupancy"), "32.5 % became 12.5 % of the warps active.");
  put(b, "spill_bytes", 64, Origin::compiled);
  EXPECT_NE(told(a, b, "Registers").find("64 B of them spilled"), std::string::npos);
  b.key.options.bc = 64;
  EXPECT_NE(told(a, b, "Registers").find("a tile of 128 × 64"), std::string::npos);
  put(b, "tensor_pipe_pct", 62);
  EXPECT_NE(told(a, b, "Tensor cores")
                .find("busy in 62.0 % of the cycles, previously 0.250 %: the products run on the tensor cores"),
            std::string::npos);
  b.time.median = 40800;
  b.time.ci_low = b.time.ci_high = 40800;
  fill_figures(b);
  EXPECT_EQ(told(a, b, "Time"), "2.0 times as fast as tiled.");
}

std::vector<std::string> numbers_in(std::string_view words) {
  std::vector<std::string> numbers;
  for (std::size_t at = 0; at < words.size();) {
    // "flash_tf32x3" is a name.
    const bool in_name =
        at > 0 && (std::isalnum(static_cast<unsigned char>(words[at - 1])) != 0 || words[at - 1] == '_');
    if (in_name || std::isdigit(static_cast<unsigned char>(words[at])) == 0) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < words.size() && (std::isdigit(static_cast<unsigned char>(words[end])) != 0 || words[end] == '.'))
      ++end;
    std::string number(words.substr(at, end - at));
    if (number.back() == '.') number.pop_back();
    numbers.push_back(std::move(number));
    at = end;
  }
  return numbers;
}

TEST(LadderSentences, HoldNoNumberButThoseOfTheMeasurements) {
  const Measurement a = tiled_rung(), b = rung("flash_simt", 59500);
  std::set<std::string> known;
  const auto add = [&](const std::string& text) {
    for (const std::string& n : numbers_in(text)) known.insert(n);
  };
  for (const Measurement* m : {&a, &b}) {
    for (const MetricRow& metric : metric_table()) {
      const double x = figure(*m, metric.id).value;
      add(metric.unit == "B" ? bytes_text(x) : figure_text(x));
      add(std::to_string(static_cast<long long>(x)));
    }
    // In the unit of the larger of the two.
    const double moved = figure(*m, "dram_read_bytes").value + figure(*m, "dram_write_bytes").value;
    add(value_with_unit(moved, bytes_unit(70e9)));
    add(figure_text(figure(*m, "shared_dynamic_bytes").value / 1024));
    add(figure_text(100 * figure(*m, "shared_conflicts_count").value / figure(*m, "shared_wavefronts_count").value));
    for (const int option : {m->key.options.br, m->key.options.bc, m->key.options.threads}) add(std::to_string(option));
  }
  add(times_text(a.time.median / b.time.median));
  std::size_t seen = 0;
  for (const LadderSentence& s : ladder_sentences(a, b)) {
    for (const std::string& n : numbers_in(s.words)) {
      EXPECT_TRUE(known.contains(n)) << n << " in: " << s.lead << ": " << s.words;
      ++seen;
    }
  }
  EXPECT_GE(seen, 15U);
}

// ---- the scene

class LadderSceneTest : public ::testing::Test {
 protected:
  LadderSceneTest() {
    state.document.sweep.kernels = {"naive", "tiled", "flash_simt"};
    state.document.sweep.values = {16384};
    state.document.sweep.base = profile_test::h100_problem();
    state.view.bench.value = 16384;
  }
  // As they come from a sweep: not in the order of the ladder.
  std::vector<Measurement> rungs() const {
    Measurement naive = rung("naive", 2571000);
    naive.workspace_bytes = 34359738368ULL;
    fill_figures(naive);
    return {rung("flash_simt", 59500), naive, tiled_rung()};
  }
  Measurement peer(std::string_view id, double us) const {
    Measurement m = h100_row("flash_simt", us);
    m.key.kernel = id;
    m.key.options = {};
    m.peer.emplace();
    m.peer->title = find_peer(id) != nullptr ? find_peer(id)->title : id;
    // Ours took longer in its turns than in their own rows.
    for (const auto& [kernel, turns_us] : {std::pair("flash_simt", 62500.0), std::pair("flash_wmma", 12500.0)}) {
      TimedBeside ours{kernel, h100_row(kernel, 1).key.options, {}};
      ours.time.n = 6;
      ours.time.median = turns_us;
      m.peer->beside.push_back(ours);
    }
    m.figures.clear();
    set_time(m, us);
    fill_figures(m);
    return m;
  }
  LadderScene scene(std::vector<Measurement> rows) const { return ladder_scene(state, model_of(std::move(rows))); }

  State state = sweep_state();
};

TEST_F(LadderSceneTest, RungsStandInTheOrderOfTheLadderEachOverTheOneBefore) {
  const LadderScene s = scene(rungs());
  ASSERT_EQ(s.rungs.size(), 3U) << s.empty;
  EXPECT_EQ(s.rungs[0].kernel, "naive");
  EXPECT_EQ(s.rungs[1].kernel, "tiled");
  EXPECT_EQ(s.rungs[2].kernel, "flash_simt");
  EXPECT_EQ(s.rungs[0].before, "");
  EXPECT_TRUE(s.rungs[0].sentences.empty());
  EXPECT_EQ(s.rungs[2].before, "tiled");
  EXPECT_FALSE(s.rungs[2].sentences.empty());
  EXPECT_FALSE(s.rungs[2].idea.empty());
  EXPECT_EQ(s.rungs[2].time, "59.5 ms");
  EXPECT_EQ(s.headline, "At L = 16384, flash_simt takes 59.5 ms and is 43 times as fast as naive.");
}

TEST_F(LadderSceneTest, TheHeadlineSaysWhoseItIs) {
  EXPECT_EQ(scene(rungs()).subject, "flash_simt");
}

// 254 and 255 are neither better nor worse, nor are they the same.
TEST_F(LadderSceneTest, OnlyWhatReadsAlikeIsCalledTheSame) {
  std::vector<Measurement> rows = rungs();
  put(rows[2], "registers_count", 255, Origin::compiled);
  const auto of = [](const LadderScene& s) {
    const auto at = std::ranges::find(s.columns, "registers", &LadderColumn::id) - s.columns.begin();
    return s.rungs[2].figures[static_cast<std::size_t>(at)];
  };
  EXPECT_EQ(of(scene(rows)).text, "254");
  EXPECT_EQ(of(scene(rows)).change, "from 255");
  EXPECT_FALSE(of(scene(rows)).better || of(scene(rows)).worse);
  put(rows[2], "registers_count", 254, Origin::compiled);
  EXPECT_EQ(of(scene(rows)).change, "same");
}

TEST_F(LadderSceneTest, WithoutAPeerTheFastestRungIsTheMeasure) {
  const LadderScene s = scene(rungs());
  EXPECT_EQ(s.share_title, "of the fastest, flash_simt");
  EXPECT_EQ(s.rungs[2].share_text, "1.00");
  EXPECT_NEAR(s.rungs[1].share, 59500.0 / 81600, 1e-12);
}

TEST_F(LadderSceneTest, TheFastestRightPeerIsTheMeasureAndStandsBesideTheRungs) {
  std::vector<Measurement> rows = rungs();
  rows.insert(rows.begin(), peer("torch-flash", 5000));
  rows.push_back(peer("torch-math", 90000));
  Measurement wrong = peer("torch-cudnn", 4000);
  wrong.verdict = Verdict{};
  wrong.verdict->pass = false;
  wrong.verdict->at(Tensor::o).error = 1;
  rows.push_back(wrong);
  const LadderScene s = scene(rows);
  EXPECT_EQ(s.share_title, "of FlashAttention-2");
  for (const LadderRung& rung : s.rungs)
    EXPECT_EQ(rung.name, rung.kernel == "torch-flash"   ? "FlashAttention-2"
                         : rung.kernel == "torch-math"  ? "torch's plain"
                         : rung.kernel == "torch-cudnn" ? "cuDNN"
                                                        : rung.kernel);
  ASSERT_EQ(s.rungs.size(), 6U);
  EXPECT_EQ(s.rungs[2].kernel, "flash_simt");
  EXPECT_NEAR(s.rungs[2].share, 5000.0 / 62500, 1e-12) << "both by the peer's turns";
  EXPECT_EQ(s.rungs[1].share, 0) << "tiled took no turn there";
  EXPECT_EQ(s.rungs[1].share_text, "–");
  for (std::size_t n = 3; n < 6; ++n) {
    EXPECT_TRUE(s.rungs[n].peer);
    EXPECT_TRUE(s.rungs[n].sentences.empty());
    EXPECT_EQ(s.rungs[n].before, "");
  }
  EXPECT_EQ(s.headline,
            "At L = 16384, flash_simt takes 59.5 ms and is 43 times as fast as naive and 0.0800 times as fast as "
            "FlashAttention-2.");
}

// The column's unit is that of its largest: a sentence of two smaller ones has it too.
TEST_F(LadderSceneTest, ASentenceHasTheUnitOfItsColumn) {
  std::vector<Measurement> rows = rungs();
  rows.push_back(rung("flash_tf32x3", 40000));
  put(rows[0], "dram_read_bytes", 250e6);
  put(rows[0], "dram_write_bytes", 10e6);
  put(rows[3], "dram_read_bytes", 120e6);
  put(rows[3], "dram_write_bytes", 10e6);
  const LadderScene s = scene(rows);
  ASSERT_EQ(s.rungs.size(), 4U);
  EXPECT_EQ(s.rungs[2].figures[0].text, "0.260 GB");
  EXPECT_EQ(s.rungs[3].figures[0].text, "0.130 GB");
  EXPECT_EQ(s.rungs[3].sentences[1].words, "0.260 GB became 0.130 GB.");
}

TEST_F(LadderSceneTest, WhatNoRungHasIsSaidOnceAndWhatOneMissesAtItsRung) {
  std::vector<Measurement> rows = rungs();
  for (Measurement& m : rows) m.figures[*find_metric("tensor_pipe_pct")] = {};
  rows[0].figures[*find_metric("occupancy_achieved_pct")] = {};
  rows[0].figures[*find_metric("occupancy_achieved_pct")].reason = "no counters here";
  const LadderScene s = scene(rows);
  const auto has = [&](std::string_view id) {
    return std::ranges::any_of(s.columns, [&](const LadderColumn& c) { return c.id == id; });
  };
  EXPECT_FALSE(has("tensor"));
  EXPECT_TRUE(has("warps"));
  EXPECT_NE(s.note.find("No row has values for Tensor cores"), std::string::npos) << s.note;
  for (const LadderRung& r : s.rungs) {
    EXPECT_EQ(r.figures.size(), s.columns.size());
    for (const LadderSentence& sentence : r.sentences) EXPECT_NE(sentence.lead, "Tensor cores");
  }
  const auto& sentences = s.rungs[2].sentences;
  const auto warps = std::ranges::find_if(sentences, [](const LadderSentence& x) { return x.lead == "Occupancy"; });
  ASSERT_NE(warps, sentences.end());
  EXPECT_EQ(warps->words, "not available for flash_simt: no counters here.");
}

TEST_F(LadderSceneTest, ARungThatHasNoTimeSaysWhy) {
  std::vector<Measurement> rows = rungs();
  rows[0].state = RowState::refused;
  rows[0].reason = "D = 300 is above 256";
  rows[0].time = {};
  const LadderScene s = scene(rows);
  ASSERT_EQ(s.rungs.size(), 3U);
  EXPECT_EQ(s.rungs[2].reason, "refused: D = 300 is above 256.");
  EXPECT_EQ(s.rungs[2].share, 0);
  EXPECT_EQ(s.share_title, "of the fastest, tiled");
}

TEST_F(LadderSceneTest, AWrongAnswerIsNoMeasure) {
  std::vector<Measurement> rows = rungs();
  rows[0].verdict = Verdict{};
  rows[0].verdict->pass = false;
  rows[0].verdict->at(Tensor::o).error = 1;
  const LadderScene s = scene(rows);
  EXPECT_TRUE(s.rungs[2].wrong);
  EXPECT_EQ(s.share_title, "of the fastest, tiled");
  EXPECT_EQ(s.headline.find("flash_simt"), std::string::npos) << s.headline;
}

TEST_F(LadderSceneTest, WithNoRowsItSaysWhatToDo) {
  EXPECT_NE(ladder_scene(state, Model()).empty.find("Run the sweep"), std::string::npos);
}

TEST_F(LadderSceneTest, WhatWasPublishedOfThePresetsTableStandsBesideOursAsRecorded) {
  const auto presets = bench_presets();
  const auto table = std::ranges::find_if(presets, [](const BenchPreset& p) { return p.id == "lengths_f16"; });
  ASSERT_NE(table, presets.end());
  state.document.sweep = with_preset(*table, state.document.sweep);
  const auto at = [&](Measurement m) {
    m.key.problem = problem_at(state.document.sweep, 16384);
    fill_figures(m);
    return m;
  };
  Measurement wmma = at(rung("flash_wmma", 10000));
  EXPECT_EQ(scene({wmma}).recorded,
            "Recorded: a public WMMA kernel was reported to reach 0.15 to 0.23 times the speed of torch at these "
            "lengths. No peer for flash_wmma was timed here.");
  const std::string beside = scene({wmma, at(peer("torch-flash", 5000))}).recorded;
  EXPECT_TRUE(beside.ends_with(". Here, flash_wmma is 0.400 times as fast as FlashAttention-2.")) << beside;
  const BenchScene charts = bench_scene(state, model_of({wmma}), {}, "");
  EXPECT_NE(charts.verdict.reason.find("Recorded: a public WMMA kernel"), std::string::npos) << charts.verdict.reason;
  state.document.sweep.base.D = state.document.sweep.base.Dv = 64;  // another table
  EXPECT_EQ(scene({wmma}).recorded, "");
}

TEST(BenchPresets, AreSweepsThatCanRunAndAreFoundAgain) {
  for (const BenchPreset& p : bench_presets()) {
    SweepSpec now;
    now.gpu = 3;
    const SweepSpec sweep = with_preset(p, now);
    EXPECT_TRUE(validate(sweep)) << p.id;
    EXPECT_EQ(preset_of(sweep), &p) << p.id;
    EXPECT_EQ(sweep.gpu, 3) << p.id;
    EXPECT_TRUE(check_chart_metric(p.metric)) << p.id;
  }
}

}  // namespace
}  // namespace attn::bench_test
