// What Bench's charts show, from rows whose times are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/ring.h"
#include "tests/viz/bench/scene_fixture.h"
#include "viz/bench/charts/named_first.h"
#include "viz/draw/figure_text.h"

namespace attn {
namespace {

using namespace bench_test;

TEST_F(BenchSceneTest, EveryPointLiesWithinTheAxes) {
  for (const bool log : {false, true}) {
    BenchSwitches switches;
    for (const char* id : {"time_us_median", "dram_bytes", "speedup_ratio", "tflops"}) switches.log[id] = log;
    const auto s = bench_scene(state, three_kernels(), switches, "");
    for (const BenchChart& chart : s.charts) {
      ASSERT_FALSE(chart.lines.empty()) << chart.id;
      EXPECT_EQ(chart.log_y, log) << chart.id;
      for (const BenchLine& line : chart.lines) {
        for (const BenchPoint& p : line.points) {
          EXPECT_GT(p.low, chart.y_min) << chart.id;
          EXPECT_LT(p.high, chart.y_max) << chart.id;
          EXPECT_LE(p.low, p.y);
          EXPECT_GE(p.high, p.y);
          EXPECT_GT(static_cast<double>(p.x), s.x_min);
          EXPECT_LT(static_cast<double>(p.x), s.x_max);
        }
      }
    }
  }
}

// A CPU and a GPU on one linear axis: the CPU's rates would all lie on its foot.
TEST_F(BenchSceneTest, RatesFarApartStandOnALogarithmicAxis) {
  const auto rates = [&](double slowest_us) {
    return chart_of(
        scene(model_of({timed_row(sweep, "cpu_flash", 512, 10), timed_row(sweep, "cpu_sequential", 512, slowest_us)})),
        "tflops");
  };
  EXPECT_FALSE(rates(9900).log_y);
  EXPECT_TRUE(rates(10100).log_y);
  BenchSwitches linear;
  linear.log["tflops"] = false;
  const Model m = model_of({timed_row(sweep, "cpu_flash", 512, 10), timed_row(sweep, "cpu_sequential", 512, 10100)});
  EXPECT_FALSE(chart_of(bench_scene(state, m, linear, ""), "tflops").log_y);
}

TEST(NamedFirstTest, EachKernelIsNamedOnceBeforeThoseOfFurtherRunsAre) {
  const auto line = [](std::string kernel, std::string label, bool beside) {
    BenchLine l;
    l.kernel = std::move(kernel);
    l.label = std::move(label);
    l.beside = beside;
    return l;
  };
  std::vector<BenchLine> lines{line("naive", "naive A", true), line("torch", "torch A", true),
                               line("naive", "naive B", true), line("fast", "fast C", true),
                               line("own", "own D", false)};
  lines[1].peer = true;
  std::vector<const BenchLine*> given;
  for (const BenchLine& l : lines) given.push_back(&l);
  std::vector<std::string> labels;
  for (const BenchLine* l : named_first(given)) labels.push_back(l->label);
  EXPECT_EQ(labels, (std::vector<std::string>{"own D", "naive A", "fast C", "torch A", "naive B"}));
  lines[2].emphasised = true;
  EXPECT_EQ(named_first(given).front()->label, "naive B");
}

// A name that stands at the plot's edge is of a line that ends there; who is fastest and slowest there is told first.
TEST(NamedFirst, LinesThatEndLastAndTheOutermostOfThem) {
  std::vector<BenchLine> lines(5);
  const auto give = [&](std::size_t n, const char* name, std::int64_t end, double y, bool beside, bool peer) {
    lines[n].kernel = lines[n].label = name;
    lines[n].points = {{512, y, y, y, ""}, {end, y, y, y, ""}};
    lines[n].beside = beside, lines[n].peer = peer;
  };
  give(0, "ends early", 1024, 9, false, false);
  give(1, "own", 16384, 3, false, false);
  give(2, "other run", 16384, 2, true, false);
  give(3, "fastest peer", 16384, 7, true, true);
  give(4, "slowest", 16384, 1, true, false);
  std::vector<const BenchLine*> given;
  for (const BenchLine& l : lines) given.push_back(&l);
  std::vector<std::string> labels;
  for (const BenchLine* l : named_first(given)) labels.push_back(l->label);
  EXPECT_EQ(labels, (std::vector<std::string>{"slowest", "fastest peer", "own", "other run", "ends early"}));
}

TEST_F(BenchSceneTest, WhiskersAreTheQuartiles) {
  const auto s = scene(three_kernels());
  const BenchPoint p = line_of(time_of(s), "cpu_flash")->points[0];  // 1024 us
  EXPECT_DOUBLE_EQ(p.y, 1.024);
  EXPECT_DOUBLE_EQ(p.low, 1.024 * 0.98);
  EXPECT_DOUBLE_EQ(p.high, 1.024 * 1.03);
  const BenchPoint rate = line_of(chart_of(s, "tflops"), "cpu_flash")->points[0];
  EXPECT_NEAR(rate.high / rate.y, 1 / 0.98, 1e-12);  // a shorter time is a higher rate
}

// The floor is no prediction of a kernel: a line of its own kind.
TEST_F(BenchSceneTest, PredictionsAreDottedAndHaveTheirFloor) {
  const auto s = scene(three_kernels());
  const BenchChart& chart = chart_of(s, kDramBytes);
  const BenchLine& once = chart.lines.back();
  EXPECT_EQ(once.label, "each once");
  EXPECT_TRUE(once.bound);
  for (const BenchLine& line : chart.lines) {
    EXPECT_EQ(line.dotted, !line.bound) << line.label;
    for (std::size_t i = 0; i < line.points.size(); ++i) EXPECT_GE(line.points[i].y, once.points[i].y) << line.label;
  }
}

TEST_F(BenchSceneTest, LoadedFiguresAreHollowAndNamedAsSuch) {
  Model m = three_kernels();
  m.runs.at(0).run.provenance.loaded = true;
  m.runs.at(0).run.provenance.file = "h100.attn";
  const auto s = scene(m);
  EXPECT_TRUE(line_of(time_of(s), "cpu_flash")->hollow);
  EXPECT_NE(s.table.note.find("loaded: a CPU, from h100.attn"), std::string::npos) << s.table.note;
  EXPECT_EQ(time_of(s).source, "loaded: a CPU");
  EXPECT_EQ(time_of(scene(three_kernels())).source, "live: a CPU");
  EXPECT_FALSE(line_of(time_of(scene(three_kernels())), "cpu_flash")->hollow);
}

TEST_F(BenchSceneTest, EachChartShowsTheMetricThatWasPickedForIt) {
  state.view.bench.charts = {"time_spread_pct", "", "tile_load_bytes", "peak_share_pct"};
  const auto s = scene(three_kernels());
  EXPECT_EQ(s.charts[0].title, "Spread");
  EXPECT_EQ(s.charts[1].metric, kDramBytes);  // the usual one of its place
  EXPECT_EQ(s.charts[2].title, "Tile loads");
  EXPECT_EQ(s.charts[3].title, "Share of peak");
  EXPECT_FALSE(s.charts[3].lines.empty());
  state.view.bench.charts[3] = "l2_hit_pct";
  EXPECT_NE(scene(three_kernels()).charts[3].empty.find("Not available: "), std::string::npos);
  for (const BenchMetric& metric : s.metrics) EXPECT_TRUE(check_chart_metric(metric.id)) << metric.id;
}

std::vector<std::string> titles_of(const BenchScene& s) {
  std::vector<std::string> titles;
  for (const BenchChart& chart : s.charts) titles.push_back(chart.title);
  return titles;
}

// A CPU has no occupancy: that place shows what can be had.
TEST_F(BenchSceneTest, BenchOpensWithThePlotsThatMatterFirst) {
  EXPECT_EQ(titles_of(scene(three_kernels())),
            (std::vector<std::string>{"Time", "DRAM bytes", "Speed-up", "Throughput"}));  // a CPU has no HBM
  Model m = three_kernels();
  for (Measurement& row : rows_of(m)) {
    row.processor = Processor::gpu;
    for (const char* id : {"dram_read_bytes", "dram_write_bytes"})
      row.figures[find_metric(id).value()] = {Origin::measured, 1e6, "a counter", ""};
  }
  EXPECT_EQ(titles_of(scene(m)), (std::vector<std::string>{"Time", "DRAM bytes", "Occupancy", "Throughput"}));
}

// Neighbours on an axis never read the same, however small their step.
TEST(BenchTicks, EachReadsAsItsOwnNumber) {
  EXPECT_EQ(tick_text(1.5e8), "1.5e8");
  EXPECT_EQ(tick_text(8e-7), "8e−7");
  EXPECT_EQ(tick_text(0.001), "0.001");
  EXPECT_EQ(tick_text(-20), "−20");
  for (const double step : {5e7, 2e-7, 0.25, 1.0, 2e5, 1e-9}) {
    for (int n = 0; n < 12; ++n) EXPECT_NE(tick_text(n * step), tick_text((n + 1) * step)) << n << " x " << step;
  }
}

TEST_F(BenchSceneTest, AFigureThatIsZeroEverywhereIsSaidToBe) {
  Model m = three_kernels();
  for (Measurement& row : rows_of(m)) row.figures[find_metric("spill_bytes").value()] = {Origin::compiled, 0, "", ""};
  state.view.bench.charts[3] = "spill_bytes";
  EXPECT_EQ(scene(m).charts[3].empty, "0 for every kernel at every point.");
  EXPECT_TRUE(scene(m).charts[3].lines.empty());
}

// Solid is what was achieved, dotted of the same kernel what could be.
TEST_F(BenchSceneTest, OccupancyIsAchievedWithTheTheoreticalDotted) {
  Model m = three_kernels();
  for (Measurement& row : rows_of(m)) {
    row.processor = Processor::gpu;
    row.figures[find_metric("occupancy_achieved_pct").value()] = {Origin::measured, 41, "a counter", ""};
    row.figures[find_metric("occupancy_theoretical_pct").value()] = {Origin::compiled, 50, "ptxas", ""};
  }
  const auto s = scene(m);
  const BenchChart& chart = chart_of(s, "occupancy_achieved_pct");
  for (const char* kernel : {"cpu_flash", "cpu_multicore"}) {
    std::vector<const BenchLine*> its;
    for (const BenchLine& line : chart.lines)
      if (line.kernel == kernel) its.push_back(&line);
    ASSERT_EQ(its.size(), 2U) << kernel;
    EXPECT_EQ(its[0]->dotted, false);
    EXPECT_EQ(its[0]->points.at(0).y, 41);
    EXPECT_TRUE(its[1]->dotted && its[1]->bare);
    EXPECT_EQ(its[1]->points.at(0).y, 50);
    EXPECT_EQ(its[0]->id, its[1]->id);  // hidden and shown together
  }
  EXPECT_TRUE(chart.dotted.starts_with("predicted: ")) << chart.dotted;
  // The least of several launches is no ceiling: more warps than that may be active.
  for (Measurement& row : rows_of(m))
    if (row.key.kernel == "cpu_flash")
      row.figures[find_metric("occupancy_theoretical_pct").value()].min_of_launches = true;
  const auto several = scene(m);
  const BenchChart& without = chart_of(several, "occupancy_achieved_pct");
  EXPECT_EQ(std::count_if(without.lines.begin(), without.lines.end(), [](const auto& l) { return l.dotted; }), 2);
}

// In every chart a dotted line is predicted, and the legend says what; where none is, it says nothing.
TEST_F(BenchSceneTest, DottedMeansPredictedAndTheLegendSaysSo) {
  Model measured = three_kernels();
  for (Measurement& row : rows_of(measured)) {
    row.processor = Processor::gpu;
    for (const char* id : {"dram_read_bytes", "dram_write_bytes"})
      if (row.key.kernel != "cpu_sequential")
        row.figures[find_metric(id).value()] = {Origin::measured, 1e8, "a counter", ""};
  }
  const auto planned = planned_rows(sweep);
  State both = state;
  both.document.runs.shown = {std::string(kPredictedRun), bench_test::kRun};
  both.view.bench.charts[3] = "memory_peak_bytes";
  for (const BenchScene& s : {scene(measured), scene(three_kernels()), bench_scene(state, Model{}, {}, "", planned),
                              bench_scene(both, measured, {}, "", planned)}) {
    for (const BenchChart& chart : s.charts) {
      const bool dotted = std::any_of(chart.lines.begin(), chart.lines.end(), [](const auto& l) { return l.dotted; });
      EXPECT_EQ(chart.dotted.starts_with("predicted"), dotted) << chart.title << ": " << chart.dotted;
      for (const BenchLine& line : chart.lines) {
        EXPECT_FALSE(line.dotted && line.bound) << line.label;
        // Marks are of what was measured; a prediction has its own where nothing was.
        const bool measured_too = std::any_of(chart.lines.begin(), chart.lines.end(),
                                              [&](const auto& l) { return !l.dotted && l.kernel == line.kernel; });
        EXPECT_EQ(line.bare, line.dotted && measured_too) << line.label;
      }
    }
  }
  // Of a kernel that was not counted the dotted line is the same thing as of the others, and its name says predicted.
  const auto counted = scene(measured);
  const BenchLine* alone = line_of(chart_of(counted, kDramBytes), "cpu_sequential");
  ASSERT_NE(alone, nullptr);
  EXPECT_TRUE(alone->dotted);
  EXPECT_EQ(alone->label, "cpu_sequential, predicted");
  const auto m = std::find_if(rows_of(measured).begin(), rows_of(measured).end(),
                              [](const auto& row) { return row.key.kernel == "cpu_sequential"; });
  EXPECT_NEAR(alone->points.at(0).y, figure(*m, "compulsory_bytes").value * 1e-6, 1e-9);
}

// Along ranks, dashed: what the time of one rank would be, shared without loss.
TEST_F(BenchSceneTest, ARingsTimesStandBesideTheIdeal) {
  SweepSpec along = sweep;
  along.axis = Axis(kRanks.name);
  along.kernels = {"cpu_flash"};
  along.values = {1, 2, 4};
  state.document.sweep = along;
  std::vector<Measurement> rows;
  for (const auto& [ranks, us] : {std::pair{1, 1000.0}, std::pair{2, 600.0}, std::pair{4, 400.0}}) {
    rows.push_back(timed_row(along, "cpu_flash", ranks, us));
    rows.back().ranks.emplace();
    rows.back().ranks->devices.resize(static_cast<std::size_t>(ranks));
    rows.back().ranks->one_rank_us = 1000;
    fill_figures(rows.back());
  }
  state.view.bench.charts[3] = "ring_scaling_ratio";
  // In the unit of a measured point that stands for `known`.
  const auto ideal_of = [](const BenchChart& chart, double known) {
    const double unit = line_of(chart, "cpu_flash")->points.at(0).y / known;
    const auto at = std::ranges::find_if(chart.lines, [](const BenchLine& line) { return line.ideal; });
    std::vector<double> values;
    if (at == chart.lines.end()) return values;
    EXPECT_EQ(at->label, "ideal");
    EXPECT_TRUE(at->kernel.empty() && !at->dotted);
    for (const BenchPoint& p : at->points) values.push_back(std::round(p.y / unit * 1e6) / 1e6);
    return values;
  };
  auto s = scene(bench_test::model_of(rows));
  EXPECT_EQ(ideal_of(time_of(s), 1000), (std::vector<double>{1000, 500, 250}));
  EXPECT_NE(time_of(s).note.find("dashed: one rank's time / number of ranks"), std::string::npos) << time_of(s).note;
  EXPECT_EQ(ideal_of(s.charts[3], 1), (std::vector<double>{1, 2, 4}));
  // Without the row of one rank: what the rings were set against.
  const std::vector<Measurement> without(rows.begin() + 1, rows.end());
  s = scene(bench_test::model_of(without));
  EXPECT_EQ(ideal_of(time_of(s), 600), (std::vector<double>{500, 250}));
  // Ranks that one process walks share its threads: more of them are no faster even at best.
  for (Measurement& m : rows) m.ranks.reset();
  s = scene(bench_test::model_of(rows));
  EXPECT_TRUE(ideal_of(time_of(s), 1).empty());
  EXPECT_TRUE(ideal_of(time_of(scene(three_kernels())), 1).empty()) << "along L";
}

TEST_F(BenchSceneTest, TheSpanShowsTheFactorOfTheHeadline) {
  state.view.bench.value = 2048;
  const auto s = scene(three_kernels());
  ASSERT_TRUE(time_of(s).span);
  EXPECT_EQ(time_of(s).span->text, "5.0×");
  EXPECT_EQ(time_of(s).span->x, 2048);
}

// The strip speaks of the kernel that is chosen, or says why it cannot.
TEST_F(BenchSceneTest, AKernelThatWasChosenAndIsNotShownIsToldOf) {
  Model m = three_kernels();
  state.view.bench.kernel = "cpu_flash1";
  EXPECT_EQ(scene(m).verdict.reason.substr(0, 40), "cpu_flash1 has no row for this problem.\n")
      << scene(m).verdict.reason;
  rows_of(m).push_back(timed_row(sweep, "cpu_flash1", 512, 100));
  state.view.bench.value = 2048;
  EXPECT_EQ(scene(m).verdict.reason.find("has no row at L = 2048.\n"), 11U) << scene(m).verdict.reason;
  rows_of(m).push_back(timed_row(sweep, "cpu_flash1", 2048, 100));
  rows_of(m).back().state = RowState::refused;
  rows_of(m).back().reason = "it takes no such thing";
  EXPECT_EQ(scene(m).verdict.reason.find("has no time here: it takes no such thing.\n"), 11U);
  state.view.bench.kernel = "cpu_flash";
  EXPECT_EQ(scene(m).verdict.reason.find("has no"), std::string::npos) << scene(m).verdict.reason;
  EXPECT_EQ(scene(m).verdict.kernel, "cpu_flash");
}

TEST_F(BenchSceneTest, AChosenKernelThatDoesNotTakeTheTypeOfTheRowsSaysWhichItTakes) {
  state.document.sweep.base.dtype = DType::f16;
  const Model m = three_kernels();
  state.view.bench.kernel = "flash_simt";
  const std::string reason = scene(m).verdict.reason;
  EXPECT_EQ(reason.substr(0, reason.find('\n')),
            "flash_simt has no row for this problem: it supports f32 only, but these rows are f16.");
}

TEST_F(BenchSceneTest, OfRowsOfOtherProblemsThoseOfTheChosenKernelAreShown) {
  Model m = three_kernels();
  for (Measurement& row : rows_of(m)) row.key.problem.D = row.key.problem.Dv = 32;
  const SweepSpec there = sweep;
  Measurement last = timed_row(there, "cpu_multicore", 512, 100);
  last.key.problem.D = last.key.problem.Dv = 16;
  rows_of(m).push_back(last);
  state.document.sweep.base.D = state.document.sweep.base.Dv = 8;  // no row is of it
  EXPECT_EQ(scene(m).kernels, std::vector<std::string>{"cpu_multicore"});
  state.view.bench.kernel = "cpu_flash";
  EXPECT_EQ(scene(m).verdict.kernel, "cpu_flash");
  EXPECT_EQ(scene(m).kernels.size(), 3U);
}

// Of one row a chart in MB beside a column in MiB would read as two numbers.
TEST_F(BenchSceneTest, MemoryHasTheUnitOfTheTableInEveryChart) {
  state.document.sweep.kernels = {"naive"};
  for (const double bytes : {64.0 * (1 << 20), 8200.0 * (1 << 30)}) {
    Model m = model_of({timed_row(sweep, "naive", 512, 100)});
    rows_of(m)[0].processor = Processor::gpu;
    for (const char* id : {"memory_peak_bytes", "memory_overhead_bytes"})
      rows_of(m)[0].figures[find_metric(id).value()] = {Origin::derived, bytes, "", ""};
    for (const char* id : {"memory_peak_bytes", "memory_overhead_bytes"}) {
      state.view.bench.charts[3] = id;
      const BenchScene s = scene(m);
      const std::string unit = bytes < 1e9 ? "MiB" : "GiB";
      EXPECT_EQ(s.charts[3].unit, unit) << id;
      ASSERT_FALSE(s.charts[3].lines.empty()) << id;
      EXPECT_EQ(s.charts[3].lines.front().points.front().y, bytes < 1e9 ? 64 : 8200) << id;
      EXPECT_TRUE(std::ranges::any_of(s.table.columns, [&](const BenchColumn& c) { return c.title.ends_with(unit); }));
    }
  }
}

// A backward has no predicted tile loads: the unit follows the least bytes, which are all that is drawn.
TEST_F(BenchSceneTest, TheUnitOfBytesIsThatOfWhatIsDrawn) {
  Problem& base = state.document.sweep.base;
  base.pass = Pass::backward;
  base.Hq = base.Hkv = 16;
  base.B = 8;
  const auto s =
      scene(model_of({timed_row(sweep, "cpu_flash_bwd", 1024, 10), timed_row(sweep, "cpu_flash_bwd", 2048, 40)}));
  const BenchChart& chart = chart_of(s, kDramBytes);
  ASSERT_FALSE(chart.lines.empty());
  for (const BenchLine& line : chart.lines) EXPECT_TRUE(line.bound) << line.label;
  // Q, O, dO, dQ of 8 x 16 x 2048 rows of 64 floats and K, V, dK, dV: 537 MB, and LSE.
  EXPECT_EQ(chart.unit, "MB");
  EXPECT_NEAR(chart.lines.front().points.back().y, 8 * 8.0 * 16 * 2048 * 64 * 4 / 1e6, 10);
}

}  // namespace
}  // namespace attn
