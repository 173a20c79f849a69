// One point of a sweep on a GPU, with no GPU: what the worker measures, and what is told of it when something breaks.
#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "app/worker/client.h"
#include "app/worker/cpu_bench.h"
#include "profiling/figures/metrics.h"
#include "profiling/sweep/sweep.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

TEST(WorkerMeasure, ARungOnTensorCoresIsSetAgainstTheirPeakInItsType) {
  GpuClient client = client_with({});
  const auto peaks_of = [&](const char* kernel, DType dtype) {
    Point point = small_point();
    point.kernel = kernel;
    point.problem.dtype = dtype;
    point.options = {};
    const auto m = client.measure(point, {kPlenty, {}});
    EXPECT_TRUE(m && m->state == RowState::done) << kernel;
    return m ? m->peaks : Peaks{};
  };
  EXPECT_EQ(peaks_of("naive", DType::f32).tensor_gflops, 0);
  const Peaks half = peaks_of("flash_mma", DType::f16), tf32 = peaks_of("flash_tf32x3", DType::f32);
  EXPECT_GT(half.tensor_gflops, 0);
  EXPECT_EQ(half.products_each, 1);
  // The double takes as long for either: a product of f16 has twice the multiply-adds.
  EXPECT_DOUBLE_EQ(half.tensor_gflops, 2 * tf32.tensor_gflops);
  EXPECT_EQ(tf32.products_each, 3);
}

// f16 and bf16 share a pipe; each is measured by a kernel of its own.
TEST(WorkerMeasure, EachTypeOfTheTensorCoresHasItsOwnMeasuredPeak) {
  const auto lost_peak = [](DType dtype, const char* kernel) {
    GpuClient client = client_with({"launch of " + std::string(kernel)});
    Point point = small_point();
    point.kernel = "flash_mma";
    point.problem.dtype = dtype;
    point.options = {};
    const auto m = client.measure(point, {kPlenty, {}});
    EXPECT_TRUE(m && m->state == RowState::done) << kernel;
    return m && m->peaks.tensor_gflops == 0 && m->peaks.why_not.contains(kTensorPeak);
  };
  EXPECT_TRUE(lost_peak(DType::bf16, "attnscope_tensor_bf16"));
  EXPECT_FALSE(lost_peak(DType::bf16, "attnscope_tensor_half"));
  EXPECT_TRUE(lost_peak(DType::f16, "attnscope_tensor_half"));
  EXPECT_FALSE(lost_peak(DType::f16, "attnscope_tensor_bf16"));
}

TEST(WorkerMeasure, APeakThatCannotBeHadSaysWhyAndLeavesTheOthersTheirTurn) {
  GpuClient client = client_with({"launch of attnscope_copy"});
  const auto m = client.measure(small_point(), {kPlenty, {}});
  ASSERT_TRUE(m && m->state == RowState::done);
  EXPECT_EQ(m->peaks.copy_gb_per_s, 0);
  EXPECT_GT(m->peaks.peak_gflops, 0);
  EXPECT_GT(m->peaks.read_gb_per_s, 0);
  EXPECT_GT(m->peaks.l2_gb_per_s, 0);
  EXPECT_GT(m->peaks.shared_gb_per_s, 0);
  ASSERT_EQ(m->peaks.why_not.size(), 1U);
  EXPECT_NE(m->peaks.why_not.at(kCopyPeak).find("launch of attnscope_copy failed"), std::string::npos);
}

TEST(WorkerMeasure, TheRoofsOfL2AndSharedMemoryAreTheBytesLoadedOverTheTime) {
  GpuClient client = client_with({});
  const auto m = client.measure(small_point(), {kPlenty, {}});
  ASSERT_TRUE(m);
  ASSERT_GT(m->peaks.l2_gb_per_s, 0);
  // The double takes as long for either: 512 turns of the shared memory's loop for 64 of the L2's.
  EXPECT_DOUBLE_EQ(m->peaks.shared_gb_per_s, 8 * m->peaks.l2_gb_per_s);
}

TEST(WorkerMeasure, ARowHasItsTimesPlanAndKey) {
  GpuClient client = client_with({});
  const auto m = client.measure(small_point(), {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->state, RowState::done) << m->reason;
  EXPECT_EQ(m->processor, Processor::gpu);
  EXPECT_EQ(m->key.kernel, "naive");
  EXPECT_EQ(m->key.device, "a double");
  EXPECT_EQ(m->key.l2, L2State::cold);
  EXPECT_EQ(m->key.options.threads, 256);
  EXPECT_FALSE(m->key.source_hash.empty());
  EXPECT_EQ(m->launches.size(), 3U);
  EXPECT_GE(m->time.n, 5);
  EXPECT_EQ(m->launch_us, (std::vector<double>{1, 1, 1}));
  EXPECT_DOUBLE_EQ(m->time.median, 3);  // three launches of 1 us each; the flush before them is not among them
  EXPECT_EQ(m->clock, "CUPTI kernel time stamps");
  EXPECT_DOUBLE_EQ(figure(*m, "sm_clock_mhz").value, 1500);
  EXPECT_DOUBLE_EQ(figure(*m, "memory_clock_mhz").value, 2619);
  EXPECT_DOUBLE_EQ(figure(*m, "power_w").value, 650);
  EXPECT_DOUBLE_EQ(figure(*m, "power_limit_w").value, 700);
  EXPECT_DOUBLE_EQ(figure(*m, "held_down_pct").value, 100);
  EXPECT_EQ(figure(*m, "held_down_pct").limiter, "power limit");
  EXPECT_GT(m->peaks.peak_gflops, 0);
  EXPECT_GT(m->peaks.copy_gb_per_s, 0);
  EXPECT_FALSE(m->verdict);
  ASSERT_EQ(m->figures.size(), metric_table().size());
  for (std::size_t n = 0; n < m->figures.size(); ++n) {
    EXPECT_EQ(m->figures[n].available(), m->figures[n].reason.empty()) << metric_table()[n].id;
  }
}

// Across the socket too, and of a worker that is lost all that is known.
TEST(WorkerMeasure, ARowTellsTheStagesOfItsPoint) {
  GpuClient client = client_with({});
  const auto m = client.measure(small_point(), {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  std::vector<std::string> names;
  for (const Stage& s : m->stages) names.push_back(s.name);
  EXPECT_EQ(names, (std::vector<std::string>{"peaks", "plan", "inputs", "upload", "compile", "run", "warm up", "time",
                                             "counters"}));
  EXPECT_GT(m->begun_unix_us, 0);
}

TEST(WorkerMeasure, CountersBecomeFiguresWithTheirMethod) {
  GpuClient client = client_with({});
  const auto m = client.measure(small_point(), {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  double next = 1;
  for (std::size_t n = 0; n < metric_table().size(); ++n) {
    const MetricRow& row = metric_table()[n];
    if (row.counters.empty()) continue;
    EXPECT_EQ(m->figures[n].origin, Origin::measured) << row.id;
    EXPECT_DOUBLE_EQ(m->figures[n].value, next++) << row.id;
    EXPECT_NE(m->figures[n].method.find(row.counters.front()), std::string::npos) << m->figures[n].method;
    EXPECT_NE(m->figures[n].method.find("cold L2, 2 passes"), std::string::npos) << m->figures[n].method;
  }
  EXPECT_TRUE(figure(*m, "dram_gb_per_s").available());
  EXPECT_TRUE(figure(*m, "dram_over_compulsory_ratio").available());
}

TEST(WorkerMeasure, WithoutCountersTheProfilerIsNeverTouched) {
  GpuClient client = client_with({"open_profiler", Fault::How::die});
  Point p = small_point();
  p.counters = false;
  const auto m = client.measure(p, {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->state, RowState::done);
  EXPECT_EQ(m->clock, "CUDA events (counters were turned off for this run)");
  EXPECT_DOUBLE_EQ(m->time.median, 250);
  EXPECT_EQ(figure(*m, "dram_read_bytes").reason, "counters were turned off for this run");
}

// Whatever the profiler does not give, the row is timed, checked, and says why.
class EveryProfilerCall : public testing::TestWithParam<std::string> {};

TEST_P(EveryProfilerCall, WhatItDoesNotGiveIsAReasonAndTheRestGoesOn) {
  GpuClient client = client_with({GetParam(), Fault::How::error});
  const auto m = client.measure(small_point(), {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->state, RowState::done) << m->reason;
  EXPECT_GE(m->time.n, 5);
  const bool timed = GetParam() == "count" || GetParam() == "chip";
  EXPECT_EQ(m->clock == "CUPTI kernel time stamps", timed) << m->clock;
  const bool counted = GetParam() != "count" && GetParam() != "open_profiler";
  EXPECT_EQ(figure(*m, "dram_read_bytes").available(), counted);
  if (!timed) {
    EXPECT_TRUE(m->clock.starts_with("CUDA events (")) << m->clock;
  }
  if (!counted) {
    EXPECT_FALSE(figure(*m, "dram_read_bytes").reason.empty());
  }
  if (GetParam() == "chip") {
    EXPECT_EQ(figure(*m, "tensor_pipe_pct").reason,
              "GX999 has no counter sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active");
  }
}

INSTANTIATE_TEST_SUITE_P(Profiler, EveryProfilerCall,
                         testing::Values("open_profiler", "start_times", "take_times", "records", "count", "chip"),
                         [](const auto& call) { return call.param; });

TEST(WorkerMeasure, AProfilerThatHangsOrKillsIsSurvived) {
  for (const char* call : {"take_times", "count"}) {
    for (const Fault::How how : {Fault::How::hang, Fault::How::die}) {
      GpuClient client = client_with({call, how});
      const auto broken = client.measure(small_point(), {how == Fault::How::hang ? 0.3 : kPlenty, {}});
      ASSERT_FALSE(broken) << call;
      EXPECT_TRUE(client.measure(small_point(), {kPlenty, {}})) << call;
    }
  }
}

TEST(WorkerMeasure, WithoutADriverTheErrorSaysSo) {
  GpuClient client = client_with({"open_driver", Fault::How::error});
  const auto m = client.measure(small_point(), {kPlenty, {}});
  ASSERT_FALSE(m);
  EXPECT_EQ(m.error().message, "there is no driver");
  EXPECT_EQ(m.error().kind, ErrorKind::cannot_run);
}

TEST(WorkerMeasure, AnErrorOfEveryDriverCallIsAReadableRow) {
  for (const char* call : {"allocate", "fill", "upload", "load", "launch", "synchronize", "download"}) {
    GpuClient client = client_with({call, Fault::How::sticky});
    Point p = small_point();
    p.verify = true;
    const auto m = client.measure(p, {kPlenty, {}});
    const std::string words = m ? m->reason : m.error().message;
    EXPECT_TRUE(!m || m->state == RowState::failed) << call;
    EXPECT_NE(words.find(std::string(call) + " failed: CUDA_ERROR"), std::string::npos) << words;
    EXPECT_LT(client.worker_id(), 0) << call;
    EXPECT_TRUE(client.measure(p, {kPlenty, {}})) << call;
  }
}

TEST(WorkerMeasure, TheWorkerJudgesTheAnswer) {
  GpuClient client = client_with({});
  Point p = small_point();
  p.verify = true;
  const auto m = client.measure(p, {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  ASSERT_TRUE(m->verdict);
  EXPECT_FALSE(m->verdict->pass);  // the double computes nothing
}

TEST(WorkerMeasure, WhatDoesNotFitIsARefusedRowWithItsPlan) {
  GpuClient client = client_with({});
  Point p = small_point();
  p.problem.Lq = p.problem.Lk = 131072;
  p.memory_limit = 80ULL << 30;
  const auto m = client.measure(p, {kPlenty, {}});
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(m->state, RowState::refused);
  EXPECT_NE(m->reason.find("largest L that fits is"), std::string::npos) << m->reason;
  EXPECT_GT(m->workspace_bytes, 80ULL << 30);
  EXPECT_GE(client.worker_id(), 0);
}

TEST(WorkerMeasure, ALostGpuIsAFailedRowAndTheNextPointGetsANewWorker) {
  GpuClient client = client_with({"launch", Fault::How::sticky});
  const auto broken = client.measure(small_point(), {kPlenty, {}});
  ASSERT_TRUE(broken) << broken.error().message;
  EXPECT_EQ(broken->state, RowState::failed);
  EXPECT_NE(broken->reason.find("launch failed: CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << broken->reason;
  EXPECT_LT(client.worker_id(), 0);
  const auto next = client.measure(small_point(), {kPlenty, {}});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->state, RowState::done) << next->reason;
}

TEST(WorkerMeasure, AHangOrADeathIsAnErrorInWordsAndTheNextPointWorks) {
  for (const Fault::How how : {Fault::How::hang, Fault::How::die}) {
    GpuClient client = client_with({"synchronize", how});
    const auto broken = client.measure(small_point(), {how == Fault::How::hang ? 0.2 : kPlenty, {}});
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().message.find("naive on"), std::string::npos) << broken.error().message;
    EXPECT_TRUE(client.measure(small_point(), {kPlenty, {}}));
  }
}

TEST(WorkerMeasure, ProvenanceNamesTheGpu) {
  GpuClient client = client_with({});
  const auto hello = client.hello({kPlenty, {}});
  ASSERT_TRUE(hello);
  const Provenance p = provenance_on(*hello, 1);
  EXPECT_EQ(p.device, "a double");
  EXPECT_EQ(p.device_arch, "sm_90a");
  EXPECT_EQ(p.cores, 132);
  EXPECT_EQ(p.driver, "for CUDA 13.0");
}

TEST(WorkerMeasure, AKernelOfTheCpuIsTimedInItsOwnProcessAndJudgedThere) {
  CpuBench bench(starter_with({}));
  Point p = small_point();
  p.kernel = "cpu_flash";
  p.options = {};
  p.verify = true;
  p.seconds_per_point = 0.01;
  const Measurement m = bench.measure(p, {});
  ASSERT_EQ(m.state, RowState::done) << m.reason;
  EXPECT_EQ(m.processor, Processor::cpu);
  EXPECT_TRUE(m.verdict && m.verdict->pass);
  EXPECT_EQ(m.clock, "steady_clock");
  EXPECT_EQ(figure(m, "time_us_median").value, m.time.median) << "its figures come with it";
  const auto times = bench.turn(p, {1, 4, 0, 1}, {});
  ASSERT_TRUE(times) << times.error().message;
  EXPECT_EQ(times->size(), 4U);
  bench.let_go();
  EXPECT_TRUE(bench.turn(p, {1, 1, 0, 1}, {}));
}

// Its process does not know the CPU's peak: the sweep, which does, sets the row against it.
TEST(WorkerMeasure, ASweepSetsRowsOfAProcessOfTheirOwnAgainstTheCpusPeak) {
  CpuBench bench(starter_with({}));
  SweepSpec s;
  s.base = small_point().problem;
  s.kernels = {"cpu_flash"};
  s.values = {8};
  s.seconds_per_point = 0.01;
  s.peak = {100, 10, 2};
  SweepCallbacks callbacks;
  callbacks.cpu = bench.runner();
  const auto rows = run_sweep(s, callbacks, {});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  const Measurement& m = rows->front();
  ASSERT_EQ(m.state, RowState::done) << m.reason;
  EXPECT_EQ(m.peaks.peak_gflops, 100);
  EXPECT_EQ(m.peaks.copy_gb_per_s, 10);
  // Of 100 GFLOP/s, in percent.
  EXPECT_NEAR(figure(m, "peak_share_pct").value, figure(m, "tflops").value * 1e3, 1e-9);
}

TEST(WorkerMeasure, ACpusPointThatIsStoppedOrLostIsARowWithItsReason) {
  CpuBench bench(starter_with({}));
  Point p = small_point();
  p.kernel = "cpu_sequential";
  p.options = {};
  p.problem.Lq = p.problem.Lk = 8192;  // seconds
  std::stop_source stop;
  stop.request_stop();
  const Measurement cancelled = bench.measure(p, stop.get_token());
  EXPECT_EQ(cancelled.state, RowState::cancelled);
  EXPECT_FALSE(cancelled.reason.empty());
  CpuBench none([]() -> Result<Child> { return fail(ErrorKind::failed, "no process can be made"); });
  const Measurement lost = none.measure(p, {});
  EXPECT_EQ(lost.state, RowState::failed);
  EXPECT_NE(lost.reason.find("no process can be made"), std::string::npos) << lost.reason;
}

}  // namespace
}  // namespace attn
