#include "profiling/sweep/sweep.h"
#include "profiling/measure/point.h"
#include "profiling/spec/sweep_spec.h"
#include "profiling/sweep/estimate.h"
#include "profiling/sweep/finished.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/model/problem/pages.h"
#include "profiling/figures/metrics.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/sweep/time_left.h"
#include "tests/profiling/fake_kernels.h"

namespace attn {
namespace {

using namespace test;

SweepSpec quick() {
  SweepSpec s;
  s.kernels = {"cpu_sequential"};
  s.values = {8, 16};
  s.base = small_problem();
  s.seconds_per_point = 0.01;
  s.peak = {100, 10, 1};
  return s;
}

std::vector<const KernelRow*> pointers(const std::vector<KernelRow>& rows) {
  std::vector<const KernelRow*> p;
  for (const KernelRow& row : rows) p.push_back(&row);
  return p;
}

TEST(SweepSpec, ASoundOneIsAccepted) {
  const auto valid = validate(quick());
  EXPECT_TRUE(valid) << valid.error().message;
}

// What is wrong, and a word that the message must hold.
struct Flaw {
  void (*spoil)(SweepSpec&);
  std::string_view word;
};

TEST(SweepSpec, EachFlawIsRefusedInWords) {
  const Flaw flaws[] = {
      {[](SweepSpec& s) { s.kernels.clear(); }, "kernel"},
      {[](SweepSpec& s) { s.kernels = {"cpu_flsh"}; }, "cpu_flsh"},
      {[](SweepSpec& s) {
         s.kernels = {"cpu_sequential", "cpu_sequential"};
       },
       "twice"},
      {[](SweepSpec& s) { s.values.clear(); }, "L"},
      {[](SweepSpec& s) {
         s.values = {8, 8};
       },
       "twice"},
      {[](SweepSpec& s) { s.values = {0}; }, "L = 0"},
      {[](SweepSpec& s) { s.values = {-5}; }, "L = -5"},
      {[](SweepSpec& s) { s.values = {std::int64_t{1} << 40}; }, "out of range"},
      {[](SweepSpec& s) { s.values.resize(1001, 1); }, "1000"},
      {[](SweepSpec& s) { s.axis = Axis::D, s.values = {512}; }, "D = 512"},
      {[](SweepSpec& s) { s.axis = Axis::H, s.base.Hq = 4, s.base.Hkv = 2, s.values = {3}; }, "a multiple of 2"},
      {[](SweepSpec& s) { s.axis = Axis::threads; }, "threads"},  // cpu_sequential has one
      {[](SweepSpec& s) { s.seconds_per_point = 0; }, "time limit"},
      {[](SweepSpec& s) { s.seconds_per_point = std::nan(""); }, "time limit"},
      {[](SweepSpec& s) { s.min_repeats = 0; }, "repeats"},
      {[](SweepSpec& s) { s.tokens = -1; }, "tokens"},
  };
  for (const Flaw& flaw : flaws) {
    SweepSpec s = quick();
    flaw.spoil(s);
    const auto valid = validate(s);
    ASSERT_FALSE(valid) << flaw.word;
    EXPECT_NE(valid.error().message.find(flaw.word), std::string::npos) << valid.error().message;
  }
}

TEST(SweepSpec, AnAxisHasANameThatReadsBack) {
  for (const Axis a : {Axis::L, Axis::B, Axis::H, Axis::D, Axis::br, Axis::bc, Axis::threads})
    EXPECT_EQ(axis_from_name(name_of(a)).value(), a);
  EXPECT_FALSE(axis_from_name("l"));
}

TEST(SweepSpec, ZeroIsAValueOfAnOptionThatAKernelDeclaresAlone) {
  SweepSpec s = quick();
  s.kernels = {"flash_hopper"};
  s.base.dtype = DType::f16;
  s.axis = axis_from_name("turns").value();
  s.values = {0, 1};
  const auto declared = validate(s);
  EXPECT_TRUE(declared) << declared.error().message;
  s.values = {-1};
  EXPECT_NE(validate(s).error().message.find("turns = -1 is out of range; use 0 to "), std::string::npos);
  s.axis = Axis::bc;
  s.values = {0, 16};
  EXPECT_NE(validate(s).error().message.find("bc = 0 is out of range; use 1 to "), std::string::npos);
}

TEST(SweepPoints, LSetsQueriesAndKeysAndKeepsTheTokens) {
  SweepSpec s = quick();
  s.tokens = 64;
  Problem p = problem_at(s, 16);
  EXPECT_EQ(p.Lq, 16);
  EXPECT_EQ(p.Lk, 16);
  EXPECT_EQ(p.B, 4);
  EXPECT_EQ(problem_at(s, 1000).B, 1);
}

TEST(SweepPoints, HKeepsTheGroupsOfGroupedQueryAttention) {
  SweepSpec s = quick();
  s.axis = Axis::H;
  s.base.Hq = 8;
  s.base.Hkv = 2;
  const Problem p = problem_at(s, 16);
  EXPECT_EQ(p.Hq, 16);
  EXPECT_EQ(p.Hkv, 4);
}

TEST(SweepPoints, DTakesDvAlongWhereTheyWereEqual) {
  SweepSpec s = quick();
  s.axis = Axis::D;
  EXPECT_EQ(problem_at(s, 32).Dv, 32);
  s.base.Dv = 4;
  EXPECT_EQ(problem_at(s, 32).Dv, 4);
}

TEST(SweepPoints, ABiasFollowsItsExtentsAndKeepsItsBroadcasts) {
  SweepSpec s = quick();
  s.base.bias_shape = {1, 1, 1, s.base.Lk};
  EXPECT_EQ(problem_at(s, 40).bias_shape, (std::vector<std::int64_t>{1, 1, 1, 40}));
}

TEST(SweepPoints, RaggedBatchesFollowTheAxis) {
  SweepSpec s = quick();
  s.axis = Axis::B;
  s.base.Lk = 640;
  s.ragged = Ragged::one_long;
  EXPECT_EQ(std::ssize(problem_at(s, 5).mask.key_lengths), 5);
  EXPECT_EQ(std::ranges::count(problem_at(s, 5).mask.key_lengths, 10), 4);
  s.axis = Axis("Lk");
  s.base.B = 3;
  EXPECT_EQ(std::ranges::max(problem_at(s, 6400).mask.key_lengths), 6400);
  EXPECT_EQ(problem_at(s, 6400).Lq, s.base.Lq);
  s.base = with_pages(s.base, 16);
  EXPECT_EQ(problem_at(s, 6400).storage, (KvStorage{16, 3 * (400 + 1)})) << "the pool follows as well";
  s.base.mask.key_lengths = {1, 2, 3};
  s.values = {640};
  const auto both = validate(s);
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().message.find("omit one of the two"), std::string::npos);
}

TEST(Sweep, GivesOneRowAPointInOrderWithProgress) {
  const std::vector<KernelRow> rows{right_kernel("one"), right_kernel("two")};
  std::vector<std::string> now, handed;
  std::vector<std::size_t> done;
  SweepCallbacks callbacks;
  callbacks.progress = [&](const SweepProgress& p) {
    now.push_back(p.now);
    done.push_back(p.done);
    EXPECT_EQ(p.total, 4U);
  };
  callbacks.row = [&](const Measurement& m) { handed.push_back(m.key.kernel); };
  const auto result = run_sweep(quick(), pointers(rows), callbacks, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(handed, (std::vector<std::string>{"one", "two", "one", "two"}));
  EXPECT_EQ(now, (std::vector<std::string>{"one, L = 8", "two, L = 8", "one, L = 16", "two, L = 16", ""}));
  EXPECT_EQ(done, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  ASSERT_EQ(result->size(), 4U);
  EXPECT_EQ(result->at(3).key.problem.Lk, 16);
}

TEST(Sweep, GoesOnAfterPointsThatFail) {
  const std::vector<KernelRow> rows{refusing_kernel(), failing_kernel(), out_of_memory_kernel(), right_kernel()};
  const auto result = run_sweep(quick(), pointers(rows), {}, {});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->size(), 8U);
  const RowState expected[] = {RowState::refused, RowState::failed, RowState::failed, RowState::done};
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(result->at(i).state, expected[i % 4]) << i;
    EXPECT_EQ(result->at(i).reason.empty(), expected[i % 4] == RowState::done) << i;
  }
}

TEST(Sweep, CancelledInTheMiddleKeepsTheFinishedRows) {
  const std::vector<KernelRow> rows{right_kernel(), endless_kernel()};
  std::stop_source source;
  std::vector<Measurement> handed;
  SweepCallbacks callbacks;
  callbacks.row = [&](const Measurement& m) { handed.push_back(m); };
  callbacks.progress = [&](const SweepProgress& p) {
    if (p.now.starts_with("endless")) source.request_stop();
  };
  const auto result = run_sweep(quick(), pointers(rows), callbacks, source.get_token());
  ASSERT_TRUE(result);
  ASSERT_EQ(result->size(), 2U);
  EXPECT_EQ(result->at(0).state, RowState::done);
  EXPECT_GT(result->at(0).time.n, 0);
  EXPECT_EQ(result->at(1).state, RowState::cancelled);
  EXPECT_EQ(handed.size(), 2U);
}

TEST(Sweep, AStopBeforeItBeginsMeasuresNothing) {
  std::stop_source source;
  source.request_stop();
  const auto result = run_sweep(quick(), {}, source.get_token());
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->empty());
}

TEST(Sweep, EachRowComesWithItsSpeedUpOverTheBaselineOfTheSameProblem) {
  const std::vector<KernelRow> rows{right_kernel("one"), right_kernel("cpu_multicore")};
  SweepCallbacks callbacks;
  callbacks.row = [&](const Measurement& m) { EXPECT_TRUE(figure(m, "speedup_ratio").available()) << m.key.kernel; };
  const auto result = run_sweep(quick(), pointers(rows), callbacks, {});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->size(), 4U);
  const Measurement& baseline = result->at(2);
  const Measurement& one = result->at(3);
  ASSERT_EQ(baseline.key.kernel, "cpu_multicore");
  EXPECT_EQ(figure(baseline, "speedup_ratio").value, 1);
  EXPECT_DOUBLE_EQ(figure(one, "speedup_ratio").value, baseline.time.median / one.time.median);
}

TEST(Sweep, AKernelWithoutAChoiceOfTheOptionIsMeasuredOnce) {
  SweepSpec s = quick();
  s.kernels = {"cpu_sequential", "cpu_flash"};
  s.axis = Axis::threads;
  s.values = {2, 3, 4};
  const auto result = run_sweep(s, {}, {});
  ASSERT_TRUE(result) << result.error().message;
  const auto count = [&](std::string_view id) {
    return std::count_if(result->begin(), result->end(), [&](const Measurement& m) { return m.key.kernel == id; });
  };
  EXPECT_EQ(count("cpu_sequential"), 1);
  EXPECT_EQ(count("cpu_flash"), 3);
}

// A runner that answers like a GPU.
GpuRunner fake_gpu(std::vector<std::string>& asked) {
  GpuRunner gpu;
  gpu.device = {Processor::gpu, 0, "a GPU", "sm_90a", 132, 1ULL << 34};
  gpu.measure = [&asked](const Point& p, const auto& now, const std::stop_token&) {
    now("compiling");
    asked.push_back(p.kernel);
    Measurement m = empty_row(p, Processor::gpu);
    m.key.device = "a GPU";
    m.time.n = 9;
    m.time.median = m.time.q1 = m.time.q3 = p.kernel == "naive" ? 80 : 20;
    fill_figures(m);
    return m;
  };
  return gpu;
}

TEST(SweepOnBothPlaces, EachPointGoesToItsOwnRunner) {
  SweepSpec s = quick();
  s.kernels = {"cpu_sequential", "flash_simt", "naive"};
  std::vector<std::string> asked, now;
  SweepCallbacks callbacks;
  callbacks.gpu = fake_gpu(asked);
  callbacks.progress = [&](const SweepProgress& p) { now.push_back(p.now); };
  const auto rows = run_sweep(s, callbacks, {});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 6U);
  EXPECT_EQ(asked, (std::vector<std::string>{"naive", "flash_simt", "naive", "flash_simt"}));
  EXPECT_NE(std::find(now.begin(), now.end(), "naive, L = 8: compiling"), now.end());
  for (const Measurement& m : *rows) {
    EXPECT_EQ(m.processor, m.key.kernel == "cpu_sequential" ? Processor::cpu : Processor::gpu);
    if (m.key.kernel == "flash_simt") {
      EXPECT_EQ(figure(m, "speedup_ratio").value, 4);
    }
  }
}

TEST(SweepOnBothPlaces, WithoutAGpuItsKernelsAreRowsThatSaySo) {
  SweepSpec s = quick();
  s.kernels = {"cpu_sequential", "naive"};
  const auto rows = run_sweep(s, {}, {});
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_EQ(rows->at(0).state, RowState::refused);
  EXPECT_NE(rows->at(0).reason.find("GPU"), std::string::npos);
  EXPECT_EQ(rows->at(1).state, RowState::done);
}

TEST(SweepOnBothPlaces, AnUnknownArchitectureIsRefusedFirst) {
  SweepSpec s = quick();
  s.kernels = {"naive"};
  s.arch = "sm_10";
  const auto valid = validate(s);
  ASSERT_FALSE(valid);
  EXPECT_NE(valid.error().message.find("sm_10"), std::string::npos);
}

TEST(SweepGoingOn, FinishedPointsAreHandedOnAndNotMeasuredAgain) {
  SweepSpec s = quick();
  const auto first = run_sweep(s, {}, {});
  ASSERT_TRUE(first);
  s.values = {8, 16, 24};
  const SweepCount count = count_finished(s, *first, {});
  EXPECT_EQ(count.points, 3U);
  EXPECT_EQ(count.finished, 2U);
  SweepCallbacks callbacks;
  callbacks.kept = *first;
  const auto all = run_sweep(s, callbacks, {});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(all->at(i).samples_us, first->at(i).samples_us);
  EXPECT_EQ(all->at(2).state, RowState::done);
}

TEST(SweepGoingOn, AnotherProblemDeviceOrCheckIsAnotherPoint) {
  SweepSpec s = quick();
  s.values = {8};
  s.verify = false;
  const auto rows = run_sweep(s, {}, {});
  ASSERT_TRUE(rows);
  EXPECT_EQ(count_finished(s, *rows, {}).finished, 1U);
  SweepSpec other = s;
  other.verify = true;  // it was not checked
  EXPECT_EQ(count_finished(other, *rows, {}).finished, 0U);
  other = s;
  other.base.mask.causal = true;
  EXPECT_EQ(count_finished(other, *rows, {}).finished, 0U);
  std::vector<Measurement> elsewhere = *rows;
  elsewhere[0].key.device = "another CPU";
  EXPECT_EQ(count_finished(s, elsewhere, {}).finished, 0U);
  elsewhere = *rows;
  elsewhere[0].key.source_hash = "an older program";
  EXPECT_EQ(count_finished(s, elsewhere, {}).finished, 0U);
}

TEST(SweepEstimate, NamesPointsAndBytesBeforeAnythingRan) {
  SweepSpec s = quick();
  s.values = {64, 128};
  const SweepEstimate e = estimate(s);
  EXPECT_FALSE(e.from_rates);  // nothing ran: the limit of each point is all that is known
  EXPECT_DOUBLE_EQ(e.seconds, 2 * s.seconds_per_point);
  EXPECT_GE(e.max_bytes, 4U * 128 * 8 * 4);  // Q, K, V, O of the larger point
  EXPECT_NE(e.words.find("2 points"), std::string::npos) << e.words;
}

TEST(SweepEstimate, IsNoLessThanItMayBe) {
  SweepSpec s = quick();
  s.values = {64, 128, 256, 512, 1024};
  s.seconds_per_point = 2.5;
  EXPECT_NE(estimate(s).words.find("up to 13 s of measuring"), std::string::npos) << estimate(s).words;
  s.seconds_per_point = 25;  // 125 s
  EXPECT_NE(estimate(s).words.find("up to 3 min of measuring"), std::string::npos) << estimate(s).words;
}

TEST(SweepEstimate, KnowsTheTimeFromEarlierRowsOfTheSameKernels) {
  const Measurement known = measure_on_cpu(real_row(), point_at(quick(), real_row(), 16), quick().peak, {});
  const SweepEstimate e = estimate(quick(), {&known, 1});
  EXPECT_TRUE(e.from_rates);
  EXPECT_GE(e.seconds, 2 * quick().seconds_per_point);
}

TEST(TimeLeft, IsUnknownBeforeAnythingFinished) {
  const TimeLeft time(1.0, 5);
  EXPECT_EQ(time.seconds(std::vector<PointCost>{{"a", 1e9}}), -1);
  EXPECT_EQ(time.seconds({}), 0);
}

TEST(TimeLeft, FollowsTheFlopsOfEachKernel) {
  TimeLeft time(1.0, 5);
  time.knows("a", 1e9);
  time.knows("b", 1e12);
  // a at 1 GFLOP/s: 100 s a run, for the check and the warm-up, and one more beyond the patience of 4 s.
  EXPECT_DOUBLE_EQ(time.seconds(std::vector<PointCost>{{"a", 1e11}}), 300);
  // b: 0.1 s a run, twice; five repeats fit the limit of 1 s.
  EXPECT_DOUBLE_EQ(time.seconds(std::vector<PointCost>{{"b", 1e11}}), 1.2);
}

TEST(TimeLeft, LearnsHowFarItsExpectationIsOff) {
  TimeLeft time(1.0, 5);
  time.finished({"b", 1e11}, 0.1, 2.4);  // expected 1.2
  EXPECT_DOUBLE_EQ(time.seconds(std::vector<PointCost>{{"b", 1e11}}), 2.4);
}

TEST(Sweep, HandsPointsOfTheCpuToWhoTimesThem) {
  SweepSpec s = quick();
  s.kernels = {"cpu_sequential", "cpu_flash"};
  std::vector<std::string> asked;
  SweepCallbacks callbacks;
  callbacks.cpu = [&](const Point& p, const auto&, std::stop_token) {
    asked.push_back(p.kernel);
    Measurement m = empty_row(p, Processor::cpu);
    m.time.n = 5, m.time.median = 1e3;  // 1 ms
    fill_figures(m);
    return m;
  };
  const auto rows = run_sweep(s, callbacks, {});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(asked.size(), rows->size());
  EXPECT_EQ(asked.size(), 2 * s.values.size());
  // The sweep measured the CPU's peak, or was told it: each row is set against it.
  for (const Measurement& m : *rows) {
    EXPECT_GT(m.peaks.peak_gflops, 0);
    ASSERT_TRUE(figure(m, "peak_share_pct").available()) << figure(m, "peak_share_pct").reason;
    EXPECT_DOUBLE_EQ(figure(m, "peak_share_pct").value, 1e5 * figure(m, "tflops").value / m.peaks.peak_gflops);
  }
}

}  // namespace
}  // namespace attn
