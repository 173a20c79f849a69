#include "profiling/figures/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "kernels/ladder.h"
#include "kernels/model/traffic.h"
#include "profiling/figures/baseline.h"
#include "profiling/figures/statistics.h"

namespace attn {
namespace {

TEST(Replaces, TheSamePointAgainAndNothingElse) {
  Measurement old;
  old.key.kernel = "naive";
  old.key.device = "gpu";
  Measurement m = old;
  EXPECT_TRUE(replaces(m, old));
  m.key.source_hash = "edited";
  EXPECT_TRUE(replaces(m, old));
  m.key.l2 = L2State::cold;
  EXPECT_FALSE(replaces(m, old));
  m = old;
  m.key.options.br = 7;
  EXPECT_FALSE(replaces(m, old));
  m = old;
  m.key.device_uuid = "a";
  old.key.device_uuid = "b";
  EXPECT_FALSE(replaces(m, old));
  old = m;
  for (const RowState s : {RowState::cancelled, RowState::failed, RowState::refused}) {
    m.state = s;
    EXPECT_FALSE(replaces(m, old));
    EXPECT_TRUE(replaces(old, m));
    EXPECT_TRUE(replaces(m, m));
  }
}

TEST(MetricTable, IdsAreUnique) {
  std::set<std::string_view> ids;
  for (const MetricRow& row : metric_table()) EXPECT_TRUE(ids.insert(row.id).second) << row.id;
}

TEST(MetricTable, IdsAreLowerSnake) {
  for (const MetricRow& row : metric_table()) {
    EXPECT_TRUE(std::all_of(row.id.begin(), row.id.end(), [](unsigned char c) {
      return std::islower(c) || std::isdigit(c) || c == '_';
    })) << row.id;
    EXPECT_TRUE(std::islower(static_cast<unsigned char>(row.id.front()))) << row.id;
    EXPECT_EQ(row.id.find("__"), std::string_view::npos) << row.id;
  }
}

TEST(MetricTable, IdsCarryTheirUnit) {
  for (const MetricRow& row : metric_table()) {
    const auto units = metric_units();
    const auto unit = std::ranges::find(units, row.unit, &MetricUnit::name);
    ASSERT_NE(unit, units.end()) << row.id << " has unit '" << row.unit
                                 << "', which is new: add it, with how an id says it, to kUnits in "
                                    "profiling/figures/metrics.cpp";
    EXPECT_TRUE(std::ranges::any_of(
        unit->in_id,
        [&](std::string_view word) { return !word.empty() && row.id.find(word) != std::string_view::npos; }))
        << row.id << " [" << row.unit << "]: its id must hold one of the unit's words in kUnits";
  }
}

TEST(MetricTable, EachUnitHasANameAndAWordForIds) {
  for (const MetricUnit& unit : metric_units()) {
    EXPECT_FALSE(unit.name.empty());
    EXPECT_FALSE(unit.in_id.front().empty()) << unit.name;
  }
}

TEST(MetricTable, HelpIsOneSentenceOrTwo) {
  for (const MetricRow& row : metric_table()) {
    ASSERT_FALSE(row.help.empty()) << row.id;
    const auto first = static_cast<unsigned char>(row.help.front());
    EXPECT_TRUE(std::isupper(first) || std::isdigit(first)) << row.id;  // "32-byte sectors that ..."
    EXPECT_EQ(row.help.back(), '.') << row.id;
    const std::size_t first_end = row.help.find(". ");
    if (first_end == std::string_view::npos) continue;
    EXPECT_EQ(row.help.find(". ", first_end + 1), std::string_view::npos) << row.id;
  }
}

TEST(MetricTable, EveryRowHasALabelAndOneSourceAtMost) {
  for (const MetricRow& row : metric_table()) {
    EXPECT_FALSE(row.label.empty()) << row.id;
    EXPECT_FALSE(row.compute != nullptr && !row.counters.empty()) << row.id << " is computed and counted";
  }
}

TEST(MetricTable, WhatACpuRowCannotHaveSaysWhy) {
  for (const MetricRow& row : metric_table()) EXPECT_EQ(row.compute == nullptr, !row.not_on_cpu.empty()) << row.id;
}

TEST(MetricTable, CounterNamesLookLikeCuptis) {
  int counted = 0;
  for (const MetricRow& row : metric_table()) {
    for (const std::string_view name : row.counters) {
      ++counted;
      EXPECT_NE(name.find("__"), std::string_view::npos) << name;
      const std::string_view last = name.substr(name.rfind('.') + 1);
      EXPECT_TRUE(last == "sum" || last == "pct" || last == "ratio" || last == "pct_of_peak_sustained_active") << name;
    }
  }
  EXPECT_GE(counted, 8);
}

TEST(MetricTable, DramBytesHaveTheNameOfBlackwellGeForceAsSecondChoice) {
  const MetricRow& read = metric_table()[find_metric("dram_read_bytes").value()];
  ASSERT_EQ(read.counters.size(), 2U);
  EXPECT_EQ(read.counters[0], "dram__bytes_read.sum");
  EXPECT_EQ(read.counters[1], "dram__bytes_op_read.sum");
}

TEST(MetricTable, AnUnknownIdIsRefusedWithThoseThereAre) {
  const auto found = find_metric("dram_red_bytes");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("dram_read_bytes"), std::string::npos);
}

// 2048 x 2048, D = 64: 2 * 2048^2 * 128 = 1.073741824e9 FLOPs.
Measurement timed(std::string kernel, double median_us, std::int32_t threads = 0) {
  Measurement m;
  m.key.kernel = std::move(kernel);
  m.key.device = "this CPU";
  m.key.options.threads = threads;
  m.key.problem.Lq = m.key.problem.Lk = 2048;
  m.key.problem.D = m.key.problem.Dv = 64;
  m.clock = "steady_clock";
  m.samples_us = std::vector<double>(10, median_us);
  m.time = statistics_of(m.samples_us);
  m.launches.emplace_back();
  return m;
}

TEST(Figures, RateAndShareOfPeakFollowFromTheMedian) {
  Measurement m = timed("cpu_flash", 10000);
  m.peaks.peak_gflops = 200;
  fill_figures(m);
  EXPECT_DOUBLE_EQ(figure(m, "tflops").value, 0.1073741824);
  EXPECT_EQ(figure(m, "tflops").origin, Origin::derived);
  EXPECT_DOUBLE_EQ(figure(m, "peak_share_pct").value, 53.6870912);
}

// 0.1073741824 TFLOP/s.
TEST(Figures, TheShareOfPeakIsOfThePipeThatTheProductsRunOn) {
  Measurement m = timed("flash_mma", 10000);
  m.peaks.peak_gflops = 50;
  fill_figures(m);
  EXPECT_FALSE(figure(m, "peak_share_pct").available());
  EXPECT_EQ(figure(m, "peak_share_pct").reason,
            "its products run on tensor cores, whose peak was not measured in this session");
  m.peaks.tensor_gflops = 200;
  fill_figures(m);
  EXPECT_DOUBLE_EQ(figure(m, "peak_share_pct").value, 53.6870912);
  m.key.kernel = "flash_tf32x3";
  m.peaks.tensor_gflops = 644.2450944;
  m.peaks.products_each = 3;
  fill_figures(m);
  EXPECT_DOUBLE_EQ(figure(m, "peak_share_pct").value, 50);
}

TEST(Figures, AKernelThatTheLadderDoesNotKnowIsTakenByWhatWasCounted) {
  Measurement m = timed("one_of_mine", 10000);
  m.processor = Processor::gpu;
  m.peaks.peak_gflops = 200;
  fill_figures(m);
  const auto tensor = *find_metric("tensor_pipe_pct");
  m.figures[tensor] = {Origin::measured, 40, "counted", ""};
  fill_figures(m);
  EXPECT_FALSE(figure(m, "peak_share_pct").available());
  m.figures[tensor].value = 1;
  fill_figures(m);
  EXPECT_DOUBLE_EQ(figure(m, "peak_share_pct").value, 53.6870912);
}

TEST(Figures, WithoutAMeasuredPeakThereIsNoShareOfIt) {
  Measurement m = timed("cpu_flash", 10000);
  fill_figures(m);
  EXPECT_FALSE(figure(m, "peak_share_pct").available());
  EXPECT_FALSE(figure(m, "peak_share_pct").reason.empty());
}

TEST(Figures, OfACpuRowAreThereOrSayWhyNot) {
  Measurement m = timed("cpu_flash", 10000);
  fill_figures(m);
  ASSERT_EQ(m.figures.size(), metric_table().size());
  for (std::size_t i = 0; i < m.figures.size(); ++i) {
    const Figure& f = m.figures[i];
    EXPECT_EQ(f.available(), f.reason.empty()) << metric_table()[i].id;
    if (f.available()) {
      EXPECT_FALSE(f.method.empty()) << metric_table()[i].id;
    }
    if (!metric_table()[i].counters.empty()) {
      EXPECT_FALSE(f.available()) << metric_table()[i].id;
    }
  }
}

TEST(Figures, PredictionsAreThoseOfTheKernelsOrder) {
  Measurement m = timed("cpu_flash", 10000);
  m.key.options.br = m.key.options.bc = 64;
  fill_figures(m);
  const KernelRow& row = **find_kernel("cpu_flash");
  EXPECT_EQ(figure(m, "compulsory_bytes").value, static_cast<double>(compulsory(row, m.key.problem).total()));
  EXPECT_EQ(figure(m, "tile_load_bytes").value,
            static_cast<double>(tile_loads(row, m.key.problem, m.key.options).total()));
  EXPECT_GT(figure(m, "tile_load_bytes").value, figure(m, "compulsory_bytes").value);
}

TEST(Figures, ThatACounterGaveStayAndWhatIsDerivedFromThemFollows) {
  Measurement m = timed("naive", 1000);
  m.processor = Processor::gpu;
  m.figures.resize(metric_table().size());
  m.figures[find_metric("dram_read_bytes").value()] = {Origin::measured, 3e6, "CUPTI", ""};
  m.figures[find_metric("dram_write_bytes").value()] = {Origin::measured, 1e6, "CUPTI", ""};
  fill_figures(m);
  EXPECT_EQ(figure(m, "dram_read_bytes").value, 3e6);
  EXPECT_DOUBLE_EQ(figure(m, "dram_gb_per_s").value, 4);  // 4 MB in 1 ms
  EXPECT_FALSE(figure(m, "l2_hit_pct").available());
}

TEST(Figures, FewRepeatsHaveAMedianButNoInterval) {
  Measurement m = timed("cpu_flash", 10);
  m.samples_us.resize(5);
  m.time = statistics_of(m.samples_us);
  fill_figures(m);
  EXPECT_TRUE(figure(m, "time_us_median").available());
  EXPECT_FALSE(figure(m, "time_us_ci_low").available());
}

TEST(Figures, OfAnUnknownMetricOrAnUnfilledRowAreNotAvailable) {
  Measurement m;
  EXPECT_FALSE(figure(m, "time_us_median").available());
  fill_figures(m);
  EXPECT_FALSE(figure(m, "no_such_metric").available());
  EXPECT_FALSE(figure(m, "no_such_metric").reason.empty());
}

TEST(SpeedUp, NeedsTheBaselineOnTheSameProblemAndDevice) {
  std::vector<Measurement> rows{timed("cpu_flash", 100), timed("cpu_multicore", 400)};
  rows[1].key.problem.Lk = 1024;
  relate_to_baseline(rows);
  EXPECT_FALSE(figure(rows[0], "speedup_ratio").available());
  EXPECT_NE(figure(rows[0], "speedup_ratio").reason.find("cpu_multicore"), std::string::npos);

  rows[1].key.problem = rows[0].key.problem;
  rows[1].key.device = "another CPU";
  relate_to_baseline(rows);
  EXPECT_FALSE(figure(rows[0], "speedup_ratio").available());

  rows[1].key.device = rows[0].key.device;
  relate_to_baseline(rows);
  EXPECT_EQ(figure(rows[0], "speedup_ratio").value, 4);
}

TEST(SpeedUp, IsOverTheBaselineWithAsManyThreadsWhereThereIsOne) {
  std::vector<Measurement> rows{timed("cpu_multicore", 800, 1), timed("cpu_multicore", 400, 2),
                                timed("cpu_flash", 100, 1), timed("cpu_flash", 50, 2)};
  relate_to_baseline(rows);
  EXPECT_EQ(figure(rows[2], "speedup_ratio").value, 8);
  EXPECT_EQ(figure(rows[3], "speedup_ratio").value, 8);
}

TEST(SpeedUp, AFailedBaselineIsNone) {
  std::vector<Measurement> rows{timed("cpu_flash", 100), timed("cpu_multicore", 400)};
  rows[1].state = RowState::failed;
  relate_to_baseline(rows);
  EXPECT_FALSE(figure(rows[0], "speedup_ratio").available());
}

TEST(SpeedUp, TwoGpusOfOneNameAreTwoDevices) {
  std::vector<Measurement> rows{timed("cpu_flash", 100), timed("cpu_multicore", 400)};
  rows[0].key.device_uuid = std::string(32, 'a');
  rows[1].key.device_uuid = std::string(32, 'b');
  relate_to_baseline(rows);
  EXPECT_FALSE(figure(rows[0], "speedup_ratio").available());
  rows[1].key.device_uuid.clear();  // a file of an older version: the name is all there is
  relate_to_baseline(rows);
  EXPECT_EQ(figure(rows[0], "speedup_ratio").value, 4);
}

TEST(AgainstRun, IsOverTheSameKernelOnTheSameProblemOnAnyDevice) {
  std::vector<Measurement> rows{timed("cpu_flash", 100), timed("cpu_multicore", 400)};
  fill_figures(rows[0]);
  EXPECT_FALSE(figure(rows[0], "against_run_ratio").available());
  std::vector<Measurement> reference{timed("cpu_flash", 250)};
  reference[0].key.device = "another CPU";
  reference[0].key.l2 = L2State::cold;
  relate_to_run(rows, reference, "before");
  EXPECT_EQ(figure(rows[0], "against_run_ratio").value, 2.5);
  EXPECT_NE(figure(rows[0], "against_run_ratio").method.find("before"), std::string::npos);
  EXPECT_FALSE(figure(rows[1], "against_run_ratio").available());
  EXPECT_NE(figure(rows[1], "against_run_ratio").reason.find("before"), std::string::npos);

  reference[0].key.problem.Lk = 1024;
  relate_to_run(rows, reference, "before");
  EXPECT_FALSE(figure(rows[0], "against_run_ratio").available());
  relate_to_run(rows, {}, "");
  EXPECT_NE(figure(rows[0], "against_run_ratio").reason.find("no run was chosen"), std::string::npos);
}

TEST(AgainstRun, TakesTheRowWithTheSameOptionsAndNeverGuessesAmongOthers) {
  std::vector<Measurement> rows{timed("cpu_flash", 100)};
  rows[0].key.options.br = 64;
  std::vector<Measurement> reference{timed("cpu_flash", 300), timed("cpu_flash", 200), timed("cpu_flash", 150)};
  reference[0].key.options.br = 32;
  reference[1].key.options.br = 64;
  reference[2].key.options.br = 64;
  reference[2].key.l2 = L2State::cold;
  relate_to_run(rows, reference, "before");
  EXPECT_EQ(figure(rows[0], "against_run_ratio").value, 2);  // the same state of the L2 cache comes first
  reference[1].key.options.br = reference[2].key.options.br = 16;
  relate_to_run(rows, reference, "before");
  EXPECT_FALSE(figure(rows[0], "against_run_ratio").available());
  reference.resize(1);
  relate_to_run(rows, reference, "before");
  EXPECT_EQ(figure(rows[0], "against_run_ratio").value, 3);
  reference[0].state = RowState::failed;
  relate_to_run(rows, reference, "before");
  EXPECT_FALSE(figure(rows[0], "against_run_ratio").available());
}

}  // namespace
}  // namespace attn
