// What Bench says, from rows whose times are known.
#include "viz/bench/scene/bench_scene.h"
#include "profiling/figures/baseline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/viz/bench/scene_fixture.h"
#include "viz/bench/runs/slice.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

using namespace bench_test;

// ---- verdict

TEST_F(BenchSceneTest, HeadlineComparesTheChosenKernelWithBaselineAndPlainOrders) {
  state.view.bench.value = 1024;
  const auto s = scene(three_kernels());
  EXPECT_EQ(s.verdict.headline,
            "At L = 1024, cpu_flash is 5.0 times as fast as cpu_multicore, 15 times as fast as cpu_sequential.");
  EXPECT_EQ(s.verdict.kernel, "cpu_flash");
  EXPECT_NE(s.verdict.reason.find("Predicted: its tiles request"), std::string::npos) << s.verdict.reason;
  EXPECT_NE(s.verdict.reason.find("Every output is within the allowed error."), std::string::npos);
}

TEST_F(BenchSceneTest, ASlowerKernelIsSaidToTakeLonger) {
  const Model m = model_of({timed_row(sweep, "cpu_multicore", 512, 100), timed_row(sweep, "cpu_flash", 512, 150)});
  EXPECT_EQ(scene(m).verdict.headline, "At L = 512, cpu_flash takes 1.50 times as long as cpu_multicore.");
}

TEST_F(BenchSceneTest, TimesWhoseQuartilesMeetAreCalledEqual) {
  const Model m = model_of({timed_row(sweep, "cpu_multicore", 512, 100), timed_row(sweep, "cpu_flash", 512, 99)});
  EXPECT_EQ(scene(m).verdict.headline, "At L = 512, cpu_flash is as fast as cpu_multicore.");
}

// Intervals that overlap widely allow neither word.
TEST_F(BenchSceneTest, TimesWhoseIntervalsOverlapWidelyCantBeTold) {
  Model m = model_of({timed_row(sweep, "cpu_multicore", 512, 100), timed_row(sweep, "cpu_flash", 512, 110)});
  rows_of(m)[0].time.ci_low = 80;
  rows_of(m)[0].time.ci_high = 130;
  const auto s = scene(m);
  EXPECT_EQ(s.verdict.headline, "At L = 512, cpu_flash cannot be distinguished from cpu_multicore.");
  EXPECT_NE(s.verdict.reason.find("The medians' intervals overlap for cpu_flash (± 1 %) and cpu_multicore (± 25 %)."),
            std::string::npos)
      << s.verdict.reason;
}

TEST_F(BenchSceneTest, ATimeOfFewRunsIsSaidToBe) {
  Model m = three_kernels();
  EXPECT_EQ(scene(m).verdict.reason.find("timed only"), std::string::npos) << scene(m).verdict.reason;
  for (Measurement& row : rows_of(m)) {
    if (row.key.kernel == "cpu_multicore") row.time.n = 3;
  }
  EXPECT_NE(scene(m).verdict.reason.find("cpu_multicore was timed only 3 times."), std::string::npos)
      << scene(m).verdict.reason;
  // Of five there is no interval yet, as the table's column says.
  for (Measurement& row : rows_of(m)) row.time.n = 5;
  EXPECT_NE(scene(m).verdict.reason.find("cpu_flash was timed only 5 times."), std::string::npos);
  for (Measurement& row : rows_of(m)) row.time.n = 1;
  EXPECT_NE(scene(m).verdict.reason.find("cpu_flash was timed only once."), std::string::npos);
}

TEST_F(BenchSceneTest, TheStripSpeaksOfTheChosenKernelEvenWhereItIsTheBaseline) {
  state.document.kernel = "cpu_multicore";
  const auto s = scene(three_kernels());
  EXPECT_EQ(s.verdict.kernel, "cpu_multicore") << s.verdict.headline;
}

TEST_F(BenchSceneTest, AWrongAnswerIsNeitherPraisedNorComparedWith) {
  Model m = three_kernels();
  for (Measurement& row : rows_of(m)) {
    if (row.key.kernel == "cpu_flash") row.verdict->pass = false;
  }
  const auto s = scene(m);
  EXPECT_EQ(s.verdict.headline.find("cpu_flash"), std::string::npos) << s.verdict.headline;
  EXPECT_TRUE(s.verdict.reason.starts_with("Wrong output from cpu_flash")) << s.verdict.reason;
}

TEST_F(BenchSceneTest, ANoisyTimeIsCalledNoisy) {
  Model m = three_kernels();
  EXPECT_EQ(scene(m).verdict.reason.find("Noisy"), std::string::npos);
  for (Measurement& row : rows_of(m)) {
    if (row.key.kernel == "cpu_flash") row.time.q3 = 1.5 * row.time.median;
  }
  EXPECT_NE(scene(m).verdict.reason.find("Noisy: cpu_flash's quartiles are 52 % apart."), std::string::npos)
      << scene(m).verdict.reason;
}

TEST_F(BenchSceneTest, OneKernelAloneGivesItsTimeAndNoComparison) {
  const auto s = scene(model_of({timed_row(sweep, "cpu_flash", 512, 12100)}));
  EXPECT_EQ(s.verdict.headline, "At L = 512, cpu_flash takes 12.1 ms.");
}

TEST_F(BenchSceneTest, BeforeTheRunItSaysWhatToDoAndWhatItTakes) {
  const auto s = scene(Model{});
  EXPECT_EQ(s.verdict.headline, "Nothing has been measured yet; press Run.");
  EXPECT_EQ(strip_headline(s.verdict, false), s.verdict.headline);
  EXPECT_EQ(strip_headline(s.verdict, true), "Nothing has been measured yet; press sweep ... and then Run.");
  EXPECT_NE(s.verdict.reason.find("estimate words"), std::string::npos);
  state.document.sweep.values.clear();
  EXPECT_EQ(scene(Model{}).verdict.headline, "This sweep cannot run yet.");
}

TEST_F(BenchSceneTest, AFailedRunGivesItsReason) {
  Model m;
  m.task.error = "the disk is full";
  EXPECT_NE(scene(m).verdict.reason.find("the disk is full"), std::string::npos);
}

// A learner reads lines with a lead, not one paragraph.
TEST_F(BenchSceneTest, TheReasonIsLinesEachWithItsLead) {
  const std::string reason = scene(three_kernels()).verdict.reason;
  EXPECT_TRUE(reason.starts_with("Predicted: ")) << reason;
  EXPECT_NE(reason.find("\nLimit: "), std::string::npos) << reason;
  EXPECT_NE(reason.find("\nCertainty: Every output"), std::string::npos) << reason;
}

TEST_F(BenchSceneTest, WithoutAGpuItSaysThatAGpuKernelCannotRun) {
  Model m;
  state.document.sweep.kernels = {"flash_simt"};
  EXPECT_EQ(scene(m).verdict.reason.find("no GPU"), std::string::npos);  // nobody has looked
  m.gpu.looked = true;
  EXPECT_NE(scene(m).verdict.reason.find("There is no GPU here"), std::string::npos) << scene(m).verdict.reason;
  m.gpu.gpus.push_back({0, "a GPU", "sm_90a", 1});
  EXPECT_EQ(scene(m).verdict.reason.find("no GPU"), std::string::npos);
}

// Time over L is a straight line where B shrinks as L grows: nothing else on the screen says why.
TEST_F(BenchSceneTest, WhatFollowsTheAxisIsSaidUnderItAndInTheHeadline) {
  EXPECT_TRUE(scene(three_kernels()).slice.rule.empty());
  state.document.sweep.tokens = 4096;
  state.view.bench.value = 1024;
  const auto s = scene(three_kernels());
  EXPECT_EQ(s.slice.rule, "B·L = 4096");
  EXPECT_TRUE(time_of(s).source.starts_with("B·L = 4096; live: ")) << time_of(s).source;
  EXPECT_TRUE(s.verdict.headline.starts_with("At L = 1024 (B = 4), cpu_flash")) << s.verdict.headline;
}

TEST_F(BenchSceneTest, RowsOfAnotherSweepAreSaidToBe) {
  const Model m = three_kernels();
  state.document.sweep.base.mask.causal = true;
  EXPECT_NE(scene(m).verdict.reason.find("not from the planned sweep"), std::string::npos);
}

TEST_F(BenchSceneTest, MeasuredBytesReplaceThePredictionInTheReason) {
  Model m = three_kernels();
  for (Measurement& row : rows_of(m)) {
    const double bytes = row.key.kernel == "cpu_flash" ? 1e6 : 8e6;
    for (const char* id : {"dram_read_bytes", "dram_write_bytes"})
      row.figures[find_metric(id).value()] = {Origin::measured, bytes, "a counter", ""};
  }
  const auto s = scene(m);
  EXPECT_NE(
      s.verdict.reason.find("Bytes: it moves 8.0 times fewer DRAM bytes than cpu_multicore: cpu_multicore moved "),
      std::string::npos)
      << s.verdict.reason;
  EXPECT_EQ(cell(s.table, "cpu_flash", "dram"), "2.00");
  EXPECT_EQ(std::count_if(chart_of(s, kDramBytes).lines.begin(), chart_of(s, kDramBytes).lines.end(),
                          [](const auto& l) { return !l.dotted; }),
            3);
}

// ---- which rows

TEST_F(BenchSceneTest, NoLineMixesTwoDevices) {
  Model m = three_kernels();
  rows_of(m)[0].key.device = "another CPU";
  const auto s = scene(m);
  EXPECT_EQ(line_of(time_of(s), "cpu_multicore")->points.size(), 2U);
  EXPECT_NE(s.table.note.find(" 1 more row belongs to a problem or device that is not shown."), std::string::npos)
      << s.table.note;
}

TEST_F(BenchSceneTest, ALaterRowOfTheSamePointReplacesTheEarlier) {
  Model m = three_kernels();
  rows_of(m).push_back(timed_row(sweep, "cpu_flash", 512, 7000));
  relate_to_baseline(rows_of(m));
  const auto s = scene(m);
  ASSERT_EQ(line_of(time_of(s), "cpu_flash")->points.size(), 3U);
  EXPECT_EQ(line_of(time_of(s), "cpu_flash")->points[0].text, "7.00 ms");
}

TEST_F(BenchSceneTest, TheAxisFollowsTheRowsNotThePanel) {
  const Model m = three_kernels();
  state.document.sweep.axis = Axis::D;
  state.document.sweep.values = {32, 64};
  const auto s = scene(m);
  EXPECT_EQ(s.axis_letter, "L");
  EXPECT_EQ(s.ticks.size(), 3U);
  EXPECT_EQ(s.ticks[1].text, "1k");
}

TEST_F(BenchSceneTest, AKernelThatDoesNotReadTheAxisIsDrawnAcrossIt) {
  state.document.sweep.axis = Axis::threads;
  state.document.sweep.values = {1, 2, 4};
  std::vector<Measurement> rows{timed_row(sweep, "cpu_sequential", 1, 500)};
  for (const std::int64_t n : {1, 2, 4})
    rows.push_back(timed_row(sweep, "cpu_flash", n, 400.0 / static_cast<double>(n)));
  const auto s = scene(model_of(std::move(rows)));
  const BenchLine* line = line_of(time_of(s), "cpu_sequential");
  ASSERT_NE(line, nullptr);
  EXPECT_TRUE(line->constant);
  EXPECT_EQ(line->points.size(), 3U);
  state.view.bench.value = 4;
  EXPECT_EQ(row_of(s.table, "cpu_sequential").value, 0);
}

TEST_F(BenchSceneTest, TheValueWithMostFiguresIsChosenUntilOneIsClicked) {
  Model m = three_kernels();
  rows_of(m).pop_back();  // cpu_flash at 2048 is still to come
  EXPECT_EQ(scene(m).chosen, 1024);
  state.view.bench.value = 2048;
  EXPECT_EQ(scene(m).chosen, 2048);
  state.view.bench.value = 777;  // of an earlier sweep
  EXPECT_EQ(scene(m).chosen, 1024);
}

// ---- before the run

TEST_F(BenchSceneTest, WhereNothingCanBeMeasuredItSaysSoAndNotToPressRun) {
  Model m;
  m.gpu.why_nothing = "A browser cannot measure.";
  const auto s = bench_scene(state, m, {}, "", planned_rows(sweep));
  EXPECT_EQ(time_of(s).empty, "Tick a run to draw this chart.");
  EXPECT_EQ(s.verdict.headline, "Nothing has been measured here; tick a run to see its results.");
  EXPECT_EQ(s.verdict.reason, m.gpu.why_nothing);
  EXPECT_FALSE(s.verdict.asks_for_run);
  EXPECT_EQ(why_nothing_runs(sweep, m.gpu, planned_rows(sweep), {}), m.gpu.why_nothing);
}

TEST_F(BenchSceneTest, PlannedRowsPredictBytesAndHaveNoTime) {
  const auto planned = planned_rows(sweep);
  ASSERT_EQ(planned.size(), sweep.kernels.size() * sweep.values.size());
  const auto s = bench_scene(state, Model{}, {}, "", planned);
  EXPECT_FALSE(chart_of(s, kDramBytes).lines.empty());
  EXPECT_TRUE(time_of(s).lines.empty());
  EXPECT_NE(time_of(s).empty.find("Press Run"), std::string::npos);
  EXPECT_EQ(cell(s.table, "cpu_flash", "time"), "–");
  EXPECT_NE(cell(s.table, "cpu_flash", "tiles"), "–");
  EXPECT_EQ(s.verdict.headline, "Nothing has been measured yet; press Run.");
}

TEST_F(BenchSceneTest, APlannedRefusalIsShownBeforeAnythingRuns) {
  state.document.sweep.options.br = 1 << 20;
  const auto planned = planned_rows(sweep);
  const auto s = bench_scene(state, Model{}, {}, "", planned);
  EXPECT_TRUE(row_of(s.table, "cpu_flash").reason.starts_with("refused: ")) << row_of(s.table, "cpu_flash").reason;
}

TEST_F(BenchSceneTest, TheFingerprintSeesEveryNewOrChangedRow) {
  Model m = three_kernels();
  const auto before = rows_fingerprint(state, m);
  rows_of(m)[4].time.median *= 1.001;
  const auto changed = rows_fingerprint(state, m);
  EXPECT_NE(changed, before);
  rows_of(m).pop_back();
  EXPECT_NE(rows_fingerprint(state, m), changed);
}

// ---- GPU kernels

// naive, tiled and flash_simt on a GPU beside cpu_flash on the CPU.
Model both_places(const SweepSpec& sweep) {
  std::vector<Measurement> rows;
  for (const std::int64_t l : {512, 1024, 2048}) {
    rows.push_back(timed_row(sweep, "cpu_flash", l, 900));
    for (const auto& [kernel, us] :
         {std::pair{"naive", 100.0}, std::pair{"tiled", 20.0}, std::pair{"flash_simt", 10.0}}) {
      Measurement m = timed_row(sweep, kernel, l, us);
      m.processor = Processor::gpu;
      m.key.device = "a GPU";
      m.key.l2 = L2State::cold;
      rows.push_back(m);
    }
  }
  return model_of(std::move(rows));
}

TEST_F(BenchSceneTest, KernelsOfBothPlacesShareTheChartsEachOnItsDevice) {
  const auto s = scene(both_places(sweep));
  EXPECT_EQ(s.slice.left_out, 0U);
  EXPECT_EQ(s.kernels, (std::vector<std::string>{"cpu_flash", "naive", "tiled", "flash_simt"}));
  EXPECT_EQ(time_of(s).source, "live: a GPU and a CPU");
  EXPECT_TRUE(line_of(time_of(s), "cpu_flash")->open);
  EXPECT_FALSE(line_of(time_of(s), "naive")->open);
  EXPECT_TRUE(line_of(time_of(s), "naive")->baseline);
  EXPECT_EQ(cell(s.table, "flash_simt", "speedup"), "10.0");
  EXPECT_EQ(cell(s.table, "cpu_flash", "speedup"), "–");  // no cpu_multicore, and a GPU's naive is no measure of it
}

TEST_F(BenchSceneTest, AKernelAloneOnItsDeviceLeavesTheVerdictToOneWithItsLike) {
  State cpu = state;
  cpu.document.kernel = "cpu_flash";
  const BenchScene s = bench_scene(cpu, both_places(sweep), {}, "");
  EXPECT_EQ(s.verdict.headline, "At L = 2048, flash_simt is 10 times as fast as naive, 2.0 times as fast as tiled.");
  // The bracket never joins two devices.
  const BenchChart& time = time_of(s);
  ASSERT_TRUE(time.span.has_value());
  EXPECT_EQ(time.span->from, 100);
  EXPECT_EQ(time.span->to, 10);
}

TEST_F(BenchSceneTest, RowsOfASecondGpuAreLeftOut) {
  Model m = both_places(sweep);
  Measurement other = rows_of(m)[1];
  other.key.device = "an older GPU";
  rows_of(m).insert(rows_of(m).begin(), other);
  EXPECT_EQ(scene(m).slice.left_out, 1U);
}

TEST_F(BenchSceneTest, AVerdictAgainstNaiveNamesTiledToo) {
  state.view.bench.kernel = "flash_simt";
  state.view.bench.value = 1024;
  EXPECT_EQ(scene(both_places(sweep)).verdict.headline,
            "At L = 1024, flash_simt is 10 times as fast as naive, 2.0 times as fast as tiled.");
}

// A range that is wide foretells nothing: the model, the value and the ratio of each stand there instead.
TEST_F(BenchSceneTest, BytesOutsideTheModelAreNotCalledPredicted) {
  state.view.bench.kernel = "flash_simt";
  Model m = both_places(sweep);
  for (Measurement& row : rows_of(m)) {
    if (row.processor != Processor::gpu) continue;
    row.workspace_bytes = row.key.kernel == "flash_simt" ? 0 : 1'000'000'000;
    fill_figures(row);
    const bool flash = row.key.kernel == "flash_simt";
    const double bytes = figure(row, flash ? "compulsory_bytes" : "tile_load_bytes").value * (flash ? 0.97 : 1.0);
    for (const char* id : {"dram_read_bytes", "dram_write_bytes"})
      row.figures[find_metric(id).value()] = {Origin::measured, bytes / 2, "a counter", ""};
    row.figures[find_metric("dram_peak_share_pct").value()] = {Origin::derived, 1.4, "", ""};
  }
  const std::string reason = scene(m).verdict.reason;
  EXPECT_EQ(reason.find("as predicted"), std::string::npos) << reason;
  EXPECT_EQ(reason.find("the model predicts"), std::string::npos) << reason;
  EXPECT_NE(reason.find("naive moved 1.00 times its tile loads, flash_simt moved 0.97 times the minimum, each element "
                        "once (output still in the L2 cache is not counted)."),
            std::string::npos)
      << reason;
  EXPECT_NE(reason.find("Moving fewer bytes is not why it is faster: naive runs at 1.40 % of the copy rate."),
            std::string::npos)
      << reason;
}

TEST_F(BenchSceneTest, AnotherBaselineChangesSpeedUpsOfItsDeviceAlone) {
  state.view.bench.baseline = "tiled";
  const auto s = scene(both_places(sweep));
  EXPECT_EQ(cell(s.table, "flash_simt", "speedup"), "2.00");
  EXPECT_EQ(cell(s.table, "naive", "speedup"), "0.20");
  EXPECT_TRUE(line_of(time_of(s), "tiled")->baseline);
  EXPECT_NE(speed_up(both_places(sweep)).note.find("tiled"), std::string::npos);
}

TEST_F(BenchSceneTest, WhatHoldsAKernelBackFollowsFromThePeaks) {
  state.view.bench.kernel = "flash_simt";
  const auto reason = [&](double copy_share, double peak_share) {
    Model m = both_places(sweep);
    for (Measurement& row : rows_of(m)) {
      row.figures[find_metric("dram_peak_share_pct").value()] = {Origin::derived, copy_share, "", ""};
      row.figures[find_metric("peak_share_pct").value()] = {Origin::derived, peak_share, "", ""};
      row.figures[find_metric("occupancy_theoretical_pct").value()] = {
          Origin::compiled, 12.5, "ptxas and the launch, limited by registers; the least of 2 launches: x", "", true,
          "registers"};
      row.figures[find_metric("occupancy_achieved_pct").value()] = {Origin::measured, 11.0, "", ""};
    }
    return scene(m).verdict.reason;
  };
  EXPECT_NE(reason(85, 20).find("Limited by memory: 85.0 %"), std::string::npos) << reason(85, 20);
  EXPECT_NE(reason(10, 80).find("Limited by arithmetic: 80.0 %"), std::string::npos) << reason(10, 80);
  EXPECT_NE(reason(0.2, 40).find("Limited neither by memory (0.200 % of the copy rate) nor by arithmetic (40.0 %"),
            std::string::npos)
      << reason(0.2, 40);
  EXPECT_NE(reason(0.2, 40).find("Warps: room for at least 12.5 % of an SM's maximum (registers); 11.0 % are active: "
                                 "too few to hide latency."),
            std::string::npos)
      << reason(0.2, 40);
}

// The peak that was measured is that of the fp32 pipes: it limits no kernel whose products run on the tensor cores.
TEST_F(BenchSceneTest, TheFp32PeakIsNoLimitOfTensorCores) {
  state.view.bench.kernel = "flash_simt";
  const auto reason = [&](double copy_share, double peak_share, std::optional<double> tensor) {
    Model m = both_places(sweep);
    for (Measurement& row : rows_of(m)) {
      row.figures[find_metric("dram_peak_share_pct").value()] = {Origin::derived, copy_share, "", ""};
      row.figures[find_metric("peak_share_pct").value()] = {Origin::derived, peak_share, "", ""};
      if (tensor) row.figures[find_metric("tensor_pipe_pct").value()] = {Origin::measured, *tensor, "", ""};
      row.figures[find_metric("occupancy_theoretical_pct").value()] = {Origin::compiled, 12.5, "", ""};
    }
    return scene(m).verdict.reason;
  };
  // What is full hides no latency: few warps are no second limit.
  EXPECT_EQ(reason(7, 646, 78.2).find("too few to hide"), std::string::npos) << reason(7, 646, 78.2);
  EXPECT_NE(reason(7, 85, 30).find("too few to hide"), std::string::npos) << reason(7, 85, 30);
  EXPECT_NE(
      reason(7, 646, 78.2).find("Limited by the tensor cores: busy in 78.2 % of the cycles. Memory: 7.00 % of the"),
      std::string::npos)
      << reason(7, 646, 78.2);
  // From the same share on as in Profile.
  EXPECT_EQ(reason(7, 646, kTensorBusy - 1).find("Limited"), std::string::npos);
  EXPECT_NE(reason(7, 85, 30).find("run on the tensor cores, which are busy in 30.0 % of the cycles."),
            std::string::npos)
      << reason(7, 85, 30);
  EXPECT_EQ(reason(7, 85, 30).find("Limited by arithmetic"), std::string::npos);
  EXPECT_NE(reason(7, 646, std::nullopt).find("do not run on the fp32 pipes"), std::string::npos);
  EXPECT_NE(reason(90, 646, 40).find("Limited by memory: 90.0 %"), std::string::npos) << reason(90, 646, 40);
  EXPECT_NE(reason(7, 80, 0.2).find("Limited by arithmetic: 80.0 %"), std::string::npos) << reason(7, 80, 0.2);
}

TEST_F(BenchSceneTest, EveryMetricStandsInTheColumnsOfItsGroup) {
  std::size_t metrics = 0;
  for (const MetricGroup g : {MetricGroup::time, MetricGroup::compute, MetricGroup::memory, MetricGroup::prediction,
                              MetricGroup::occupancy, MetricGroup::shared_memory, MetricGroup::correctness}) {
    BenchSwitches switches;
    switches.group = g;
    const auto s = bench_scene(state, both_places(sweep), switches, "");
    for (const BenchTableRow& row : s.table.rows) EXPECT_EQ(row.cells.size() + 1, s.table.columns.size());
    metrics += s.table.columns.size() - 1;
  }
  EXPECT_EQ(metrics, metric_table().size());
}

TEST_F(BenchSceneTest, ARefusedGpuRowStillShowsWhatTheCompilerSaid) {
  Measurement m = refused_row(sweep, "flash_simt", 512, "no GPU: none here");
  m.processor = Processor::gpu;
  m.key.device = "sm_90a";
  m.figures.resize(metric_table().size());
  m.figures[find_metric("registers_count").value()] = {Origin::compiled, 254, "ptxas", ""};
  const auto s = scene(model_of({m}));
  EXPECT_EQ(row_of(s.table, "flash_simt").reason, "refused: no GPU: none here");
  EXPECT_EQ(cell(s.table, "flash_simt", "registers"), "254");
  EXPECT_EQ(cell(s.table, "flash_simt", "time"), "–");
}

}  // namespace
}  // namespace attn
