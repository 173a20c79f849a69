// Several runs on the same axes, one set against another, and predictions beside what was measured.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "kernels/cpu/device.h"
#include "kernels/model/ring.h"
#include "profiling/figures/metrics.h"
#include "tests/viz/bench/rows.h"
#include "viz/bench/runs/run_holds.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/planned.h"
#include "viz/profile/figures/profile_scene.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

using bench_test::chart_of;
using bench_test::kRun;
using bench_test::listed_run;
using bench_test::model_of;
using bench_test::rows_of;
using bench_test::sweep_state;
using bench_test::timed_row;

void slow_down(std::vector<Measurement>& rows, double factor) {
  for (Measurement& row : rows)
    for (double* t : {&row.time.median, &row.time.q1, &row.time.q3, &row.time.ci_low, &row.time.ci_high}) *t *= factor;
}

class BenchRunsTest : public ::testing::Test {
 protected:
  State state = sweep_state();
  const SweepSpec& sweep = state.document.sweep;

  Model three_kernels() const {
    std::vector<Measurement> rows;
    for (const std::int64_t l : {512, 1024, 2048}) {
      const auto x = static_cast<double>(l);
      rows.push_back(timed_row(sweep, "cpu_multicore", l, 10 * x));
      rows.push_back(timed_row(sweep, "cpu_sequential", l, 30 * x));
      rows.push_back(timed_row(sweep, "cpu_flash", l, 2 * x));
    }
    return model_of(std::move(rows));
  }
};

// A value that the run ticked last has not: the sentences, the table and Profile speak of one that has it.
TEST_F(BenchRunsTest, TheLastRunThatHasTheClickedValueIsSpokenOf) {
  Model m = three_kernels();
  std::vector<Measurement> far{
      timed_row(sweep, "cpu_multicore", 2048, 10000), timed_row(sweep, "cpu_flash", 2048, 1000),
      timed_row(sweep, "cpu_multicore", 4096, 40000), timed_row(sweep, "cpu_flash", 4096, 2000)};
  m.runs.push_back(listed_run("00000000000000bb", far));
  state.document.runs.shown = {"00000000000000bb", kRun};
  state.view.bench.value = 2048;  // both have it
  EXPECT_TRUE(bench_scene(state, m, {}, "").verdict.headline.starts_with("Run B: "));
  state.view.bench.value = 4096;
  const BenchScene scene = bench_scene(state, m, {}, "");
  EXPECT_EQ(scene.chosen, 4096);
  EXPECT_TRUE(scene.verdict.headline.starts_with("Run A: At L = 4096, cpu_flash")) << scene.verdict.headline;
  EXPECT_TRUE(std::ranges::any_of(scene.table.rows, [](const BenchTableRow& r) { return r.label == "cpu_flash A"; }));
  const ProfileScene profile = profile_scene(state, m, {});
  EXPECT_TRUE(profile.empty.empty()) << profile.empty;
  EXPECT_NE(profile.headline.find("L = 4096"), std::string::npos) << profile.headline;
  state.view.bench.value = 777;  // nobody has it
  EXPECT_TRUE(bench_scene(state, m, {}, "").verdict.headline.starts_with("Run B: "));
}

TEST_F(BenchRunsTest, RunsThatAreTickedStandOnTheSameAxesEachWithItsLetter) {
  Model m = three_kernels();
  std::vector<Measurement> rows = rows_of(m);
  slow_down(rows, 2);
  m.runs.push_back(listed_run("00000000000000bb", rows));
  m.runs.back().run.provenance.loaded = true;
  state.document.runs.shown = {"00000000000000bb", kRun};
  const BenchScene scene = bench_scene(state, m, {}, "");
  std::set<std::string> labels;
  std::set<std::size_t> orders;
  for (const BenchLine& line : chart_of(scene, "time_us_median").lines) {
    labels.insert(line.label);
    orders.insert(line.order);
    EXPECT_EQ(line.hollow, line.label.ends_with(" A")) << line.label;
    EXPECT_EQ(line.beside, line.label.ends_with(" A")) << line.label;
  }
  EXPECT_TRUE(labels.contains("cpu_flash A") && labels.contains("cpu_flash B"));
  EXPECT_EQ(orders, (std::set<std::size_t>{0, 1}));  // a pattern a run
  EXPECT_TRUE(scene.verdict.headline.starts_with("Run B: ")) << scene.verdict.headline;
  EXPECT_NE(scene.verdict.reason.find("In A, cpu_flash takes 2"), std::string::npos) << scene.verdict.reason;
  EXPECT_NE(scene.table.note.find("A loaded: a CPU"), std::string::npos) << scene.table.note;
  std::set<std::string> rows_shown;
  for (const BenchTableRow& row : scene.table.rows) EXPECT_TRUE(rows_shown.insert(row.label).second) << row.label;
  EXPECT_TRUE(rows_shown.contains("cpu_flash A") && rows_shown.contains("cpu_flash B"));
  // Alone again it needs no letter.
  state.document.runs.shown = {kRun};
  EXPECT_EQ(bench_scene(state, m, {}, "").charts[0].lines.front().label.find(' '), std::string::npos);
}

// Lines of unlike problems meet on the same axes for nothing, even where the runs share no kernel.
TEST_F(BenchRunsTest, RunsOfDifferentProblemsAreSaidToBe) {
  Model m = three_kernels();
  SweepSpec wide = sweep;
  wide.base.D = wide.base.Dv = 128;
  m.runs.push_back(
      listed_run("00000000000000bb", {timed_row(wide, "cpu_tiled", 512, 7), timed_row(wide, "cpu_tiled", 1024, 9)}));
  state.document.runs.shown = {"00000000000000bb", kRun};
  state.view.bench.value = 512;
  const BenchScene scene = bench_scene(state, m, {}, "");
  EXPECT_TRUE(
      scene.verdict.reason.starts_with("Different problems, so compare throughput, not times: run B: B=1 H=4 L=512 "
                                       "D=64 f32 and run A: B=1 H=4 L=512 D=128 f32."))
      << scene.verdict.reason;
  const std::string& source = chart_of(scene, "time_us_median").source;
  EXPECT_NE(source.find("run A: B=1 H=4 D=128 f32, "), std::string::npos) << source;
  EXPECT_NE(source.find("run B: B=1 H=4 D=64 f32, "), std::string::npos) << source;
  // Of one problem they need no such words.
  m.runs.back().run.rows = rows_of(m);
  const BenchScene alike = bench_scene(state, m, {}, "");
  EXPECT_EQ(alike.verdict.reason.find("Different problems"), std::string::npos) << alike.verdict.reason;
  EXPECT_EQ(chart_of(alike, "time_us_median").source.find("D=64"), std::string::npos);
}

// A level across an axis that nobody varied would say that it was measured there: such a run is named, not drawn.
TEST_F(BenchRunsTest, ARunAlongAnotherAxisIsNamedAndNotDrawn) {
  Model m = three_kernels();
  SweepSpec rings = sweep;
  rings.axis = Axis(kRanks.name);
  rings.base.Lq = rings.base.Lk = 4096;
  m.runs.push_back(
      listed_run("00000000000000bb", {timed_row(rings, "cpu_flash", 1, 900), timed_row(rings, "cpu_flash", 2, 500),
                                      timed_row(rings, "cpu_multicore", 1, 8000)}));
  state.document.runs.shown = {kRun, "00000000000000bb"};  // the ring is ticked last
  const BenchScene scene = bench_scene(state, m, {}, "");
  EXPECT_EQ(scene.axis_letter, "ranks");
  std::set<std::string> drawn;
  for (const BenchLine& line : chart_of(scene, "time_us_median").lines) drawn.insert(line.label);
  EXPECT_TRUE(drawn.contains("cpu_flash B"));
  EXPECT_TRUE(drawn.contains("cpu_multicore B"));  // of the ring's sweep: a level
  EXPECT_TRUE(std::ranges::none_of(drawn, [](const std::string& l) { return l.ends_with(" A"); }));
  EXPECT_TRUE(std::ranges::none_of(scene.table.rows, [](const auto& r) { return r.label.ends_with(" A"); }));
  EXPECT_NE(scene.verdict.reason.find("Not drawn: A (L)."), std::string::npos) << scene.verdict.reason;
  // A single point varies nothing: it stands as a level.
  m.runs.front().run.rows = {timed_row(sweep, "cpu_sequential", 512, 9)};
  const BenchScene level = bench_scene(state, m, {}, "");
  EXPECT_EQ(level.verdict.reason.find("Not drawn"), std::string::npos) << level.verdict.reason;
  EXPECT_TRUE(std::ranges::any_of(level.table.rows, [](const auto& r) { return r.label == "cpu_sequential A"; }));
}

// Beside many runs the places for it are small: they say how many, on what and when, and the whole stays at hand.
TEST_F(BenchRunsTest, ManyRunsAreToldByTheirDevicesAndDays) {
  Model m;
  for (int n = 0; n < 8; ++n) {
    SweepSpec other = sweep;
    other.base.D = other.base.Dv = 16 * (n + 1);
    std::vector<Measurement> rows{timed_row(other, "cpu_tiled", 512, 7)};
    rows[0].key.device = n % 2 == 0 ? "EPYC" : "NVIDIA H100";
    m.runs.push_back(listed_run("00000000000000b" + std::to_string(n), rows));
    m.runs.back().run.provenance.loaded = n != 3;
    m.runs.back().run.date = "2026-11-2" + std::to_string(n) + "T10:00:00Z";
    state.document.runs.shown.push_back(m.runs.back().run.id);
    const BenchScene scene = bench_scene(state, m, {}, "");
    const BenchChart& chart = chart_of(scene, "time_us_median");
    if (n < 3) {
      EXPECT_EQ(chart.source, chart.source_all);
      continue;
    }
    EXPECT_LT(chart.source.size(), 100U) << chart.source;
    EXPECT_TRUE(scene.table.note.starts_with(chart.source)) << scene.table.note;
    for (const ListedRun& run : m.runs)
      EXPECT_NE(chart.source_all.find(run.run.date.substr(0, 10)), std::string::npos) << chart.source_all;
  }
  const BenchScene all = bench_scene(state, m, {}, "");
  const std::string& source = chart_of(all, "time_us_median").source;
  EXPECT_TRUE(source.starts_with("8 runs, 1 of them live: ")) << source;
  EXPECT_NE(source.find("EPYC, 2026-11-20 to 2026-11-26"), std::string::npos) << source;
  EXPECT_NE(source.find("NVIDIA H100, 2026-11-21 to 2026-11-27"), std::string::npos) << source;
}

// Without the rule time looks linear in L, where it is quadratic.
TEST_F(BenchRunsTest, PredictionsBesideARunKeepTheRuleThatBothFollow) {
  state.document.sweep.tokens = 2048;
  const Model m = three_kernels();
  state.document.runs.shown = {std::string(kPredictedRun), kRun};
  const BenchScene scene = bench_scene(state, m, {}, "");
  for (const BenchChart& chart : scene.charts) EXPECT_TRUE(chart.source.starts_with("B·L = 2048; ")) << chart.source;
}

// Beside a bare time: eight runs of one afternoon are told apart by it.
TEST_F(BenchRunsTest, ARunSaysWhatItHolds) {
  const Model m = three_kernels();
  EXPECT_EQ(run_holds(m.runs[0].run), (std::vector<std::string>{"3 kernels, L, CPU", "3 kernels, L"}));
  SweepSpec wide = sweep;
  wide.axis = Axis::D;
  wide.base.pass = Pass::backward;
  std::vector<Measurement> rows{timed_row(wide, "flash_bwd", 64, 7), timed_row(wide, "flash_bwd", 128, 9)};
  for (Measurement& row : rows) row.processor = Processor::gpu, row.key.device = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(run_holds(listed_run("b", rows).run).front(), "flash_bwd, D, backward, H100");
  rows.pop_back();  // a point varies nothing
  EXPECT_EQ(run_holds(listed_run("b", rows).run).front(), "flash_bwd, backward, H100");
  wide.base.pass = Pass::training;
  rows.push_back(timed_row(wide, "cpu_flash_train", 64, 9));
  EXPECT_EQ(run_holds(listed_run("b", rows).run).front(), "2 kernels, 2 passes, CPU, H100");
  EXPECT_TRUE(run_holds(listed_run("b", {}).run).empty());
}

TEST_F(BenchRunsTest, TwoRunsOfOneMinuteAreCalledToTheSecond) {
  Model m = three_kernels();
  m.runs[0].run.date = "2026-11-22T09:21:05Z";
  m.runs[0].run.provenance.device = "NVIDIA H100";
  const BenchRuns& list = state.document.runs;
  EXPECT_EQ(listed_choices(list, m.runs[0].run, m.runs).front(), "11-22 09:21 H100");
  m.runs.push_back(listed_run("00000000000000bb", {}));
  m.runs[1].run.date = "2026-11-22T09:21:48Z";
  EXPECT_EQ(listed_choices(list, m.runs[0].run, m.runs).front(), "11-22 09:21:05 H100");
  m.runs[0].run.provenance.device = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(listed_choices(list, m.runs[0].run, m.runs),
            (std::vector<std::string>{"11-22 09:21:05 H100 80GB HBM3", "11-22 09:21:05 H100", "11-22 09:21:05"}));
  m.runs[0].run.name = "before";
  EXPECT_EQ(listed_choices(list, m.runs[0].run, m.runs), std::vector<std::string>{"before"});
  m.runs[1].run.name = "before";
  EXPECT_EQ(listed_choices(list, m.runs[0].run, m.runs), (std::vector<std::string>{"before, 11-22", "11-22 09:21"}));
}

TEST_F(BenchRunsTest, ATableNamesTheDriverOfItsRun) {
  Model m = three_kernels();
  m.runs[0].run.provenance.driver = "580.95.05";
  EXPECT_NE(bench_scene(state, m, {}, "").table.note.find("driver 580.95.05"), std::string::npos);
}

TEST_F(BenchRunsTest, AgainstRunIsOverTheSameKernelOfTheReference) {
  Model m = three_kernels();
  std::vector<Measurement> rows = rows_of(m);
  slow_down(rows, 3);
  m.runs.push_back(listed_run("00000000000000bb", rows));
  m.runs.back().run.name = "before";
  state.document.runs.reference = "00000000000000bb";  // it need not be shown
  state.view.bench.charts[3] = "against_run_ratio";
  const BenchScene scene = bench_scene(state, m, {}, "");
  ASSERT_FALSE(scene.charts[3].lines.empty());
  for (const BenchLine& line : scene.charts[3].lines)
    for (const BenchPoint& p : line.points) EXPECT_NEAR(p.y, 3, 1e-9) << line.label;
  EXPECT_NE(scene.charts[3].note.find("before"), std::string::npos) << scene.charts[3].note;
  EXPECT_TRUE(std::any_of(scene.table.columns.begin(), scene.table.columns.end(),
                          [](const BenchColumn& c) { return c.id == "against"; }));
}

TEST_F(BenchRunsTest, PredictionsStandDottedBesideMeasuredRows) {
  Model m = three_kernels();
  SweepSpec gpu = sweep;
  gpu.kernels = {"naive", "flash_simt"};
  state.document.runs.shown = {std::string(kPredictedRun), kRun};
  const BenchScene scene = bench_scene(state, m, {}, "", planned_rows(gpu));
  const auto predicted =
      std::count_if(chart_of(scene, kDramBytes).lines.begin(), chart_of(scene, kDramBytes).lines.end(),
                    [](const auto& l) { return l.dotted && l.label.ends_with(", predicted"); });
  EXPECT_EQ(predicted, 2);
  for (const BenchLine& line : chart_of(scene, "time_us_median").lines)
    EXPECT_FALSE(line.dotted) << line.label;  // a time is not predicted
  EXPECT_TRUE(std::any_of(scene.table.rows.begin(), scene.table.rows.end(),
                          [](const auto& row) { return row.label == "flash_simt, predicted"; }));
}

TEST_F(BenchRunsTest, MemoryIsDrawnWithTheLimitOfThisGpu) {
  Model m = model_of({});
  m.gpu.looked = true;
  m.gpu.gpus = {{0, "a GPU", "sm_90a", 80'000'000'000}};
  state.document.sweep.kernels = {"naive", "flash_simt"};
  state.view.bench.charts[3] = "memory_peak_bytes";
  const BenchScene scene = bench_scene(state, m, {}, "", planned_rows(state.document.sweep));
  const auto& lines = scene.charts[3].lines;
  const auto limit = std::find_if(lines.begin(), lines.end(), [](const auto& l) { return l.kernel.empty(); });
  ASSERT_NE(limit, lines.end());
  EXPECT_EQ(limit->points.size(), scene.slice.values.size());
  for (const BenchPoint& p : limit->points) {
    EXPECT_LE(p.y, scene.charts[3].y_max);
    for (const BenchLine& line : lines)
      for (const BenchPoint& other : line.points) EXPECT_LE(other.y, p.y) << line.label;
  }
  EXPECT_TRUE(scene.charts[3].log_y);
  // Q, K, V, O and LSE, and S and P of L x L: the first L at which they are more than there is.
  const Problem& p = state.document.sweep.base;
  const auto heads = static_cast<double>(p.B * p.Hq), d = static_cast<double>(p.D);
  std::int64_t first = 1;
  const auto bytes = [&](double l) { return 4 * heads * (4 * l * d + l + 2 * l * l); };
  while (bytes(static_cast<double>(first)) <= 80e9) ++first;
  std::string note = scene.charts[3].note;
  for (std::size_t at = 0; (at = note.find("\u00a0")) != std::string::npos;) note.erase(at, 2);
  EXPECT_NE(note.find("naive no longer fits from L = " + std::to_string(first) + " upwards"), std::string::npos)
      << note;
}

// With kept tokens B falls as L rises: the limit is that of the longest row's batch, not of the first one's.
TEST_F(BenchRunsTest, WithKeptTokensTheLimitNamesItsBatch) {
  Model m = model_of({});
  m.gpu.looked = true;
  m.gpu.gpus = {{0, "a GPU", "sm_90a", 80'000'000'000}};
  SweepSpec& kept = state.document.sweep;
  kept.kernels = {"naive"};
  kept.tokens = 4096;
  state.view.bench.charts[3] = "memory_peak_bytes";
  std::string note = bench_scene(state, m, {}, "", planned_rows(kept)).charts[3].note;
  for (std::size_t at = 0; (at = note.find("\u00a0")) != std::string::npos;) note.erase(at, 2);
  const auto heads = static_cast<double>(4096 / 2048 * kept.base.Hq), d = static_cast<double>(kept.base.D);
  std::int64_t first = 1;
  const auto bytes = [&](double l) { return 4 * heads * (4 * l * d + l + 2 * l * l); };
  while (bytes(static_cast<double>(first)) <= 80e9) ++first;
  EXPECT_NE(note.find("with B = 2, naive no longer fits from L = " + std::to_string(first) + " upwards"),
            std::string::npos)
      << note;
}

// A run of a GPU that is not here: its name says how much it holds.
TEST_F(BenchRunsTest, MemoryOfAnotherMachinesGpuIsItsName) {
  EXPECT_EQ(memory_in_name("NVIDIA H100 80GB HBM3"), 80ULL << 30);
  EXPECT_EQ(memory_in_name("NVIDIA GeForce RTX 4090"), 0U);
  state.document.sweep.kernels = {"naive", "flash_simt"};
  state.view.bench.charts[3] = "memory_peak_bytes";
  std::vector<Measurement> rows = planned_rows(state.document.sweep);
  for (Measurement& row : rows) row.key.device = "NVIDIA H100 80GB HBM3";
  const BenchScene scene = bench_scene(state, model_of({}), {}, "", rows);
  EXPECT_NE(scene.charts[3].note.find("naive no longer fits from L = "), std::string::npos) << scene.charts[3].note;
  EXPECT_TRUE(std::ranges::any_of(scene.charts[3].lines,
                                  [](const auto& l) { return l.label == "memory of NVIDIA H100 80GB HBM3"; }));
}

TEST_F(BenchRunsTest, WithoutAGpuMemorySaysThatNoLimitIsKnown) {
  state.document.sweep.kernels = {"naive"};
  state.view.bench.charts[3] = "memory_peak_bytes";
  const BenchScene scene = bench_scene(state, model_of({}), {}, "", planned_rows(state.document.sweep));
  EXPECT_NE(scene.charts[3].note.find("no GPU here, so no memory limit is drawn"), std::string::npos)
      << scene.charts[3].note;
}

TEST_F(BenchRunsTest, WhatTheCompilerSaidReachesThePrediction) {
  SweepSpec gpu = sweep;
  gpu.kernels = {"flash_simt"};
  std::vector<Measurement> planned = planned_rows(gpu);
  std::vector<Measurement> compiled = planned;
  const std::size_t at = find_metric("registers_count").value();
  for (Measurement& row : compiled) row.figures[at] = {Origin::compiled, 96, "ptxas", ""};
  compiled.pop_back();
  add_compiled(planned, compiled);
  EXPECT_EQ(figure(planned.front(), "registers_count").value, 96);
  EXPECT_FALSE(figure(planned.back(), "registers_count").available());
}

// Type, D and mask are chosen among the rows that are there, whatever else the sweep asks for: each can be reached.
TEST(BenchSlices, TypeHeadDimensionAndMaskReachEveryLoadedRow) {
  State state = bench_test::sweep_state();
  SweepSpec& sweep = state.document.sweep;
  std::vector<Measurement> rows;
  const auto set = [&](DType dtype, std::int64_t d, bool causal) {
    sweep.base.dtype = dtype;
    sweep.base.D = sweep.base.Dv = d;
    sweep.base.mask.causal = causal;
  };
  const auto each = [&](const auto& then) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
      for (const std::int64_t d : {64, 128})
        for (const bool causal : {false, true}) {
          set(dtype, d, causal);
          then();
        }
  };
  each([&] {
    for (const char* kernel : {"cpu_flash", "cpu_multicore"})
      for (const std::int64_t value : sweep.values) rows.push_back(bench_test::timed_row(sweep, kernel, value, 100));
  });
  sweep.base.B = 3;  // no row is of the sweep's own problem
  std::set<const Measurement*> reached;
  each([&] {
    const BenchSlice slice = slice_rows(sweep, rows, true, nullptr, "cpu_flash");
    for (const Measurement* m : slice.rows) {
      EXPECT_EQ(m->key.problem.dtype, sweep.base.dtype);
      EXPECT_EQ(m->key.problem.D, sweep.base.D);
      EXPECT_EQ(m->key.problem.mask, sweep.base.mask);
      reached.insert(m);
    }
  });
  EXPECT_EQ(reached.size(), rows.size());
}

// A row does not spell out a default: one rank stands at 1, not at every value.
TEST(BenchSlice, ADefaultStandsAtItsOwnPlaceOnTheAxis) {
  SweepSpec sweep = bench_test::sweep_state().document.sweep;
  sweep.axis = Axis("ranks");
  sweep.kernels = {"cpu_flash"};
  sweep.values = {1, 2};
  const KernelRow& row = **find_kernel("cpu_flash");
  std::vector<Measurement> rows;
  for (const std::int64_t value : sweep.values) {
    rows.push_back(bench_test::timed_row(sweep, "cpu_flash", value, 100));
    rows.back().key.options = *resolve(row, rows.back().key.options, cpu_device());
    EXPECT_EQ(axis_value(sweep.axis, rows.back()), value);
  }
  EXPECT_EQ(chosen(rows[0].key.options, *kind_of(sweep.axis).option), std::nullopt);
  EXPECT_EQ(slice_rows(sweep, rows, true, nullptr, "cpu_flash").values, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(axis_value(Axis("ranks"), bench_test::timed_row(sweep, "cpu_multicore", 2, 100)), 0);
}

}  // namespace
}  // namespace attn
