// Bench's points on a GPU, with a double in the worker's place, and on a machine that has none.
#include "app/worker/bench.h"

#include <gtest/gtest.h>

#include "profiling/figures/metrics.h"
#include "tests/app/worker/double.h"

namespace attn {
namespace {

GpuClient::Starter double_worker(Fault fault) {
  return [first = true, fault = std::move(fault)]() mutable {
    const WorkerParts parts = parts_with(first ? fault : Fault{});
    first = false;
    return Child::copy([parts](Socket& socket) { return work(socket, parts); });
  };
}

GpuBench::CompilerOpener no_compiler() {
  return []() -> Result<std::unique_ptr<gpu::Compiler>> {
    return fail(ErrorKind::cannot_run, "there is no compiler in this test");
  };
}

GpuClient::Starter no_driver() {
  return double_worker({"open_driver", Fault::How::error});
}

SweepSpec small_sweep() {
  SweepSpec s;
  s.kernels = {"naive"};
  s.values = {5, 6};
  s.base.D = s.base.Dv = 8;
  s.seconds_per_point = 0.01;
  s.verify = false;
  return s;
}

std::vector<Measurement> rows_of(GpuBench& bench, const SweepSpec& s) {
  SweepCallbacks callbacks;
  callbacks.gpu = bench.runner(s, {});
  const auto rows = run_sweep(s, callbacks, {});
  EXPECT_TRUE(rows);
  return rows ? *rows : std::vector<Measurement>{};
}

TEST(GpuBench, WithoutCountersNobodyAsksForCupti) {
  GpuBench bench(double_worker({}), no_compiler(), {});
  SweepSpec s = small_sweep();
  s.counters = false;
  (void)bench.provenance(s);
  const auto hello = bench.look();  // the answer to the first question
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_TRUE(hello->cupti.empty());
  EXPECT_EQ(hello->cupti_error, "counters were turned off");
}

TEST(GpuBench, MeasuresThePointsOfASweepOnTheGpu) {
  GpuBench bench(double_worker({}), no_compiler(), {});
  const SweepSpec s = small_sweep();
  const auto rows = rows_of(bench, s);
  ASSERT_EQ(rows.size(), 2U);
  for (const Measurement& m : rows) {
    EXPECT_EQ(m.state, RowState::done) << m.reason;
    EXPECT_EQ(m.key.device, "a double");
    EXPECT_EQ(figure(m, "speedup_ratio").value, 1);
  }
  EXPECT_EQ(bench.provenance(s).device, "a double");
  EXPECT_EQ(bench.provenance(s).device_arch, "sm_90a");
}

TEST(GpuBench, ALostWorkerIsOneRowAndTheSweepGoesOn) {
  GpuBench bench(double_worker({"launch", Fault::How::die}), no_compiler(), {});
  const auto rows = rows_of(bench, small_sweep());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, RowState::failed);
  EXPECT_NE(rows[0].reason.find("naive"), std::string::npos) << rows[0].reason;
  EXPECT_EQ(rows[0].key.device, "a double");
  EXPECT_EQ(rows[0].figures.size(), metric_table().size());
  ASSERT_EQ(rows[0].stages.size(), 1U);  // how long it was waited for is all that is known
  EXPECT_EQ(rows[0].stages[0].name, "worker");
  EXPECT_EQ(rows[1].state, RowState::done) << rows[1].reason;
}

TEST(GpuBench, WithoutADriverEachRowSaysWhyAndThePlanStays) {
  GpuBench bench(no_driver(), no_compiler(), {});
  const auto rows = rows_of(bench, small_sweep());
  ASSERT_EQ(rows.size(), 2U);
  for (const Measurement& m : rows) {
    EXPECT_EQ(m.state, RowState::refused);
    EXPECT_NE(m.reason.find("no GPU: there is no driver"), std::string::npos) << m.reason;
    EXPECT_EQ(m.key.device, "sm_90a");
    EXPECT_EQ(m.launches.size(), 3U);
    EXPECT_NE(figure(m, "registers_count").reason.find("no compiler in this test"), std::string::npos);
    EXPECT_TRUE(figure(m, "memory_peak_bytes").available());
  }
  EXPECT_NE(bench.provenance(small_sweep()).device_arch, "sm_90a");  // this machine's CPU
}

TEST(GpuBench, AGpuThatIsNotThereIsSaidWithTheirNumber) {
  GpuBench bench(double_worker({}), no_compiler(), {});
  SweepSpec s = small_sweep();
  s.gpu = 7;
  const auto rows = rows_of(bench, s);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].state, RowState::refused);
  EXPECT_NE(rows[0].reason.find("no GPU 7: this machine has 2"), std::string::npos) << rows[0].reason;
}

TEST(GpuBench, CancelledInTheMiddleKeepsTheFinishedRows) {
  GpuBench bench(double_worker({}), no_compiler(), {});
  const SweepSpec s = small_sweep();
  std::stop_source source;
  SweepCallbacks callbacks;
  callbacks.gpu = bench.runner(s, source.get_token());
  callbacks.row = [&](const Measurement&) { source.request_stop(); };
  const auto rows = run_sweep(s, callbacks, source.get_token());
  ASSERT_TRUE(rows);
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().state, RowState::done);
}

// With NVRTC on this machine the compiler's figures are there without a GPU.
TEST(GpuBench, CompiledFiguresNeedNoGpu) {
  if (!gpu::open_nvrtc()) GTEST_SKIP() << "NVRTC is not installed here";
  GpuBench bench(no_driver(), gpu::open_nvrtc, {});
  SweepSpec s = small_sweep();
  s.values = {5};
  s.arch = "sm_80";
  const auto rows = rows_of(bench, s);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].state, RowState::refused);
  EXPECT_EQ(figure(rows[0], "registers_count").origin, Origin::compiled);
  EXPECT_GT(figure(rows[0], "registers_count").value, 0);
  EXPECT_GT(figure(rows[0], "occupancy_theoretical_pct").value, 0);
}

}  // namespace
}  // namespace attn
