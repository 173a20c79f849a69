// Figures that are computed from others, against numbers worked out by hand.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/model/problem/costs.h"
#include "kernels/model/problem/pages.h"
#include "profiling/figures/baseline.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/statistics.h"

namespace attn {
namespace {

// 2048 x 2048, D = 64, f32: Q, K, V and O are 524 288 bytes each, LSE 8192; S and P 16 777 216 each.
constexpr double kTensors = 4 * 524288.0 + 8192, kScores = 16777216;

Measurement timed(std::string kernel, double median_us) {
  Measurement m;
  m.key.kernel = std::move(kernel);
  m.key.device = "one device";
  m.key.problem.Lq = m.key.problem.Lk = 2048;
  m.key.problem.D = m.key.problem.Dv = 64;
  m.samples_us = std::vector<double>(10, median_us);
  m.time = statistics_of(m.samples_us);
  m.launches.emplace_back();
  return m;
}

Measurement counted(std::string kernel, double read, double written) {
  Measurement m = timed(std::move(kernel), 1000);
  m.processor = Processor::gpu;
  m.figures.resize(metric_table().size());
  m.figures[find_metric("dram_read_bytes").value()] = {Origin::measured, read, "CUPTI", ""};
  m.figures[find_metric("dram_write_bytes").value()] = {Origin::measured, written, "CUPTI", ""};
  return m;
}

// Pages over none, and uneven lengths over even ones of as many keys; nothing else may differ.
TEST(DerivedFigures, ALayoutIsSetAgainstTheSameRowWithoutIt) {
  Measurement plain = timed("flash_splitkv", 100), paged = timed("flash_splitkv", 103);
  paged.key.problem = with_pages(paged.key.problem, 16);
  std::vector<Measurement> rows{plain, paged};
  EXPECT_EQ(over_contiguous(paged, rows), 1.03);
  EXPECT_FALSE(over_contiguous(plain, rows));
  relate_to_layouts(paged, {rows});
  EXPECT_EQ(figure(paged, "over_contiguous_ratio").value, 1.03);
  EXPECT_EQ(layout_words(paged), "1.030× the time with contiguous K and V (derived)");
  relate_to_layouts(plain, {rows});
  EXPECT_EQ(figure(plain, "over_contiguous_ratio").reason, "K and V are contiguous, not paged");
  EXPECT_EQ(layout_words(plain), "");
  rows[0].key.options.bc = 32;
  EXPECT_FALSE(over_contiguous(paged, rows));
  rows[0] = timed("flash_mma", 100);
  EXPECT_FALSE(over_contiguous(paged, rows));

  Measurement even = timed("flash_splitkv", 200), zipf = timed("flash_splitkv", 212), fewer = zipf;
  for (Measurement* m : {&even, &zipf, &fewer}) m->key.problem.B = 3;
  even.key.problem.mask.key_lengths = {1248, 1249, 1248};
  zipf.key.problem.mask.key_lengths = {1024, 2048, 673};
  fewer.key.problem.mask.key_lengths = {1024, 2048, 672};
  rows = {zipf, even, fewer};
  EXPECT_EQ(over_even(zipf, rows), 1.06);
  relate_to_layouts(zipf, {{}, rows});  // the first run has nothing of it
  EXPECT_EQ(figure(zipf, "over_even_ratio").origin, Origin::derived);
  EXPECT_EQ(layout_words(zipf), "1.060× the time with equal key lengths (derived)");
  EXPECT_FALSE(over_even(fewer, rows));
  relate_to_layouts(fewer, {rows});
  EXPECT_FALSE(figure(fewer, "over_even_ratio").available());
  EXPECT_NE(figure(fewer, "over_even_ratio").reason.find("measure this point with --ragged even"), std::string::npos);
  EXPECT_FALSE(over_even(even, rows));
}

TEST(DerivedFigures, PeakMemoryIsTensorsAndWorkspaceTogether) {
  Measurement m = timed("cpu_multicore", 1000);
  m.workspace_bytes = 5000;
  fill_figures(m);
  EXPECT_EQ(figure(m, "memory_peak_bytes").value, kTensors + 5000);
  EXPECT_EQ(figure(m, "memory_overhead_bytes").value, 5000);
}

TEST(DerivedFigures, DramRatiosAreCountedBytesOverTheirOwnPrediction) {
  Measurement m = counted("naive", 60e6, 40e6);
  fill_figures(m);
  const double compulsory = figure(m, "compulsory_bytes").value, loads = figure(m, "tile_load_bytes").value;
  EXPECT_EQ(compulsory, kTensors + 4 * kScores);
  ASSERT_NE(compulsory, loads);
  EXPECT_DOUBLE_EQ(figure(m, "dram_over_compulsory_ratio").value, 100e6 / (kTensors + 4 * kScores));
  EXPECT_DOUBLE_EQ(figure(m, "dram_over_tile_loads_ratio").value, 100e6 / loads);
}

TEST(DerivedFigures, SharesAreInPercent) {
  Measurement m = counted("naive", 3e6, 1e6);  // 4 MB in 1 ms: 4 GB/s
  m.peaks.copy_gb_per_s = 16;
  m.peaks.peak_gflops = 10737.41824;  // 1.073741824 TFLOP/s is a tenth
  fill_figures(m);
  EXPECT_DOUBLE_EQ(figure(m, "dram_peak_share_pct").value, 25);
  EXPECT_DOUBLE_EQ(figure(m, "peak_share_pct").value, 10);
}

// Each share names its own roof, and is of the launches' span where there is one.
TEST(DerivedFigures, NeededBytesAreSetAgainstACopyAndAReading) {
  Measurement m = counted("flash_simt", 3e6, 1e6);
  m.peaks.copy_gb_per_s = 1;
  m.peaks.read_gb_per_s = 2;
  fill_figures(m);
  const double bytes = figure(m, "compulsory_bytes").value;  // every key is seen
  EXPECT_DOUBLE_EQ(figure(m, "needed_gb_per_s").value, bytes / m.time.median * 1e-3);
  EXPECT_DOUBLE_EQ(figure(m, "needed_copy_share_pct").value, 100 * bytes / m.time.median * 1e-3);
  EXPECT_DOUBLE_EQ(figure(m, "needed_read_share_pct").value, 50 * bytes / m.time.median * 1e-3);
  EXPECT_EQ(figure(m, "needed_read_share_pct").method, "read 2 GB/s measured");
  m.figures[*find_metric("launch_span_us")] = {Origin::measured, 2 * m.time.median, "", ""};
  m.peaks.read_gb_per_s = 0;
  fill_figures(m);
  EXPECT_DOUBLE_EQ(figure(m, "needed_gb_per_s").value, bytes / m.time.median * 5e-4);
  EXPECT_EQ(figure(m, "needed_read_share_pct").reason, "the read rate of this device was not measured in this session");
}

// Keys that no row sees are in no rate: with them a ragged batch read thirteen times what the memory gives.
TEST(DerivedFigures, NeededBytesAreThoseOfKeysThatAreSeen) {
  Problem p;
  p.B = 3;
  p.Hq = 8;
  p.Hkv = 2;
  p.Lq = 2;
  p.Lk = 1000;
  p.D = 64;
  p.Dv = 32;
  p.dtype = DType::f16;
  constexpr std::uint64_t kKey = 2 * 2 * (64 + 32), kRows = 3 * 8 * 2 * (2 * (64 + 32) + 4);
  EXPECT_EQ(needed_bytes(p), 3000 * kKey + kRows);
  EXPECT_EQ(needed_bytes(p), compulsory_costs(p).total());
  p.mask.key_lengths = {1000, 0, 10};
  EXPECT_EQ(needed_bytes(p), 1010 * kKey + kRows);
  p.mask.key_lengths.clear();
  p.mask.window_left = 99;  // row 0 sees from 899 on, row 1 all to the last
  EXPECT_EQ(needed_bytes(p), 3 * 101 * kKey + kRows);
}

TEST(DerivedFigures, SpreadIsTheQuartilesOverTheMedianInPercent) {
  Measurement m = timed("cpu_flash", 1);
  m.samples_us = {80, 90, 100, 110, 120};
  m.time = statistics_of(m.samples_us);
  fill_figures(m);
  EXPECT_DOUBLE_EQ(figure(m, "time_spread_pct").value, 20);
}

TEST(DerivedFigures, ABaselineInAnotherStateOfTheL2CacheIsNone) {
  std::vector<Measurement> rows{timed("cpu_flash", 100), timed("cpu_multicore", 400)};
  rows[0].key.l2 = L2State::warm;
  rows[1].key.l2 = L2State::cold;
  relate_to_baseline(rows);
  EXPECT_FALSE(figure(rows[0], "speedup_ratio").available());
  rows[1].key.l2 = L2State::warm;
  relate_to_baseline(rows);
  EXPECT_EQ(figure(rows[0], "speedup_ratio").value, 4);
}

// A forward is no measure of a backward or of a training step: each pass has its own baseline, of the same rung.
TEST(DerivedFigures, EachPassHasABaselineOfItsOwn) {
  struct Case {
    Processor processor;
    Pass pass;
    const char* id;
  };
  for (const Case& c : {Case{Processor::cpu, Pass::forward, "cpu_multicore"},
                        {Processor::gpu, Pass::forward, "naive"},
                        {Processor::cpu, Pass::backward, "cpu_naive_bwd"},
                        {Processor::gpu, Pass::backward, "naive_bwd"},
                        {Processor::cpu, Pass::training, "cpu_naive_train"},
                        {Processor::gpu, Pass::training, "naive_train"}})
    EXPECT_EQ(baseline_of(c.processor, c.pass), c.id);
  std::vector<Measurement> rows{timed("cpu_flash_train", 100), timed("cpu_multicore", 50)};
  for (Measurement& m : rows) m.key.problem.pass = Pass::training;
  relate_to_baseline(rows);
  EXPECT_FALSE(figure(rows[0], "speedup_ratio").available());
  EXPECT_EQ(figure(rows[0], "speedup_ratio").reason, "no baseline on this problem; measure cpu_naive_train as well");
  rows.push_back(timed("cpu_naive_train", 700));
  rows.back().key.problem.pass = Pass::training;
  relate_to_baseline(rows);
  EXPECT_EQ(figure(rows[0], "speedup_ratio").value, 7);
  EXPECT_EQ(figure(rows[0], "speedup_ratio").method, "over cpu_naive_train");
  // A choice for another pass leaves it be.
  relate_to_baseline(rows, "cpu_multicore");
  EXPECT_EQ(figure(rows[0], "speedup_ratio").value, 7);
}

// Two ranks in 125 us, one in 200 us: 1.6 times as fast, 80 % of 2. The slower sends 4 MB in 40 us: 100 GB/s of 400.
Measurement on_a_ring() {
  Measurement m = timed("cpu_flash", 125);
  m.ranks.emplace();
  m.ranks->devices = {{"one device", "", 0, 120, 4'000'000, 40}, {"one device", "", 5, 125, 4'000'000, 16}};
  m.ranks->one_rank_us = 200;
  m.ranks->link_gb_per_s = 400;
  return m;
}

TEST(DerivedFigures, ARingIsSetAgainstOneRankAndItsLink) {
  Measurement m = on_a_ring();
  fill_figures(m);
  EXPECT_DOUBLE_EQ(figure(m, "ring_scaling_ratio").value, 1.6);
  EXPECT_DOUBLE_EQ(figure(m, "ring_efficiency_pct").value, 80);
  EXPECT_EQ(figure(m, "ring_sent_bytes").value, 8e6);
  EXPECT_DOUBLE_EQ(figure(m, "ring_link_share_pct").value, 25);
  m.launches.clear();  // nobody plans a ring
  fill_figures(m);
  for (const char* id : {"memory_peak_bytes", "memory_overhead_bytes", "tile_load_bytes"})
    EXPECT_EQ(figure(m, id).reason, "each rank of a ring has its own memory, which is not counted") << id;
}

TEST(DerivedFigures, WhatWasNotMeasuredOfARingSaysSo) {
  Measurement m = on_a_ring();
  m.ranks->one_rank_us = m.ranks->link_gb_per_s = 0;
  fill_figures(m);
  EXPECT_EQ(figure(m, "ring_scaling_ratio").reason, "one rank with the whole problem was not measured");
  EXPECT_EQ(figure(m, "ring_efficiency_pct").reason, "one rank with the whole problem was not measured");
  EXPECT_EQ(figure(m, "ring_link_share_pct").reason, "the rate of the link was not measured");
  EXPECT_TRUE(figure(m, "ring_sent_bytes").available());
  m.ranks->devices[0].send_us = m.ranks->devices[1].send_us = 0;
  fill_figures(m);
  EXPECT_EQ(figure(m, "ring_link_share_pct").reason, "the time spent sending was not recorded");
  m.ranks.reset();
  fill_figures(m);
  for (const char* id : {"ring_scaling_ratio", "ring_efficiency_pct", "ring_sent_bytes", "ring_link_share_pct"})
    EXPECT_EQ(figure(m, id).reason, "it did not run on a ring; use attnscope ring") << id;
}

// Whatever it was set against: it is what the others are set against.
TEST(DerivedFigures, OneRankScalesByOneAndSendsNothing) {
  Measurement m = on_a_ring();
  m.ranks->devices.resize(1);
  m.ranks->devices[0].sent_bytes = 0;
  fill_figures(m);
  EXPECT_EQ(figure(m, "ring_scaling_ratio").value, 1);
  EXPECT_EQ(figure(m, "ring_efficiency_pct").value, 100);
  EXPECT_EQ(figure(m, "ring_sent_bytes").value, 0);
  EXPECT_EQ(figure(m, "ring_link_share_pct").reason, "one rank sends nothing");
}

TEST(DerivedFigures, ARingsRowTakesThePlaceOfOneWithAsManyRanksAlone) {
  const Measurement ring = on_a_ring();
  Measurement alone = ring, larger = ring;
  alone.ranks.reset();
  larger.ranks->devices.push_back(larger.ranks->devices.front());
  Measurement of_one = ring;
  of_one.ranks->devices.resize(1);
  EXPECT_FALSE(replaces(of_one, alone)) << "a ring of one is timed as rings are";
  EXPECT_TRUE(replaces(ring, ring));
  EXPECT_FALSE(replaces(ring, alone));
  EXPECT_FALSE(replaces(alone, ring));
  EXPECT_FALSE(replaces(larger, ring));
}

}  // namespace
}  // namespace attn
