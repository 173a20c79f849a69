// measure_on_cpu with kernels that go wrong: whatever happens is a row with its reason.
#include <gtest/gtest.h>

#include <thread>

#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/costs.h"
#include "profiling/figures/metrics.h"
#include "profiling/measure/cpu/on_cpu.h"
#include "tests/profiling/fake_kernels.h"

namespace attn {
namespace {

using namespace test;

constexpr CpuPeak kPeak{100, 10, 1};

Point quick() {
  Point p;
  p.problem = small_problem();
  p.seconds_per_point = 0.02;
  return p;
}

Measurement measured(const KernelRow& row, Point p = quick(), const std::stop_token& stop = {}) {
  p.kernel = row.id;
  return measure_on_cpu(row, p, kPeak, stop);
}

TEST(MeasureOnCpu, ARightKernelIsVerifiedAndTimed) {
  const Measurement m = measured(real_row());
  EXPECT_EQ(m.state, RowState::done) << m.reason;
  ASSERT_TRUE(m.verdict);
  EXPECT_TRUE(m.verdict->pass) << m.verdict->reason;
  EXPECT_GE(m.time.n, 5);
  EXPECT_EQ(m.samples_us.size(), static_cast<std::size_t>(m.time.n));
  EXPECT_GT(m.time.median, 0);
  EXPECT_EQ(m.clock, "steady_clock");
  EXPECT_EQ(m.key.l2, L2State::warm);
  EXPECT_EQ(m.key.device, cpu_device().name);
  EXPECT_TRUE(figure(m, "time_us_median").available());
  EXPECT_EQ(figure(m, "time_us_median").value, m.time.median);
}

TEST(MeasureOnCpu, EveryKernelOfTheTableMeasures) {
  for (const KernelRow& row : cpu_kernel_table()) {
    if (row.processor != Processor::cpu) continue;
    const Measurement m = measured(row);
    EXPECT_EQ(m.state, RowState::done) << row.id << ": " << m.reason;
    ASSERT_TRUE(m.verdict) << row.id;
    EXPECT_TRUE(m.verdict->pass) << row.id << ": " << m.verdict->reason;
    EXPECT_TRUE(figure(m, "tile_load_bytes").available()) << row.id;
  }
}

// A forward and its backward in one timing: all five outputs are judged, and FLOPs are those of both.
TEST(MeasureOnCpu, TrainingStepsMeasure) {
  std::size_t measured_steps = 0;
  for (const KernelRow* row : ladder_of(Pass::training)) {
    if (row->processor != Processor::cpu) continue;
    Point p = quick();
    p.problem.pass = Pass::training;
    const Measurement m = measured(*row, p);
    EXPECT_EQ(m.state, RowState::done) << row->id << ": " << m.reason;
    ASSERT_TRUE(m.verdict) << row->id;
    EXPECT_TRUE(m.verdict->pass) << row->id << ": " << m.verdict->reason;
    for (const Tensor t : {Tensor::o, Tensor::lse, Tensor::d_q, Tensor::d_k, Tensor::d_v})
      EXPECT_NE(m.verdict->of(t), nullptr) << row->id << " " << name_of(t);
    EXPECT_EQ(m.launches.size(), 2U) << row->id;
    const double flops = figure(m, "tflops").value * m.time.median * 1e6;
    Problem forward = p.problem;
    forward.pass = Pass::forward;
    EXPECT_NEAR(flops / flops_of(forward), 3.5, 1e-9) << row->id;
    ++measured_steps;
  }
  EXPECT_GE(measured_steps, 2U);
}

TEST(MeasureOnCpu, AKernelThatWritesNothingDoesNotPass) {
  const Measurement m = measured(idle_kernel());
  EXPECT_EQ(m.state, RowState::done);
  ASSERT_TRUE(m.verdict);
  EXPECT_FALSE(m.verdict->pass);
  EXPECT_FALSE(m.verdict->reason.empty());
}

TEST(MeasureOnCpu, WithoutVerificationThereIsNoVerdict) {
  Point p = quick();
  p.verify = false;
  const Measurement m = measured(real_row(), p);
  EXPECT_EQ(m.state, RowState::done);
  EXPECT_FALSE(m.verdict);
  EXPECT_FALSE(figure(m, "error_abs").available());
}

TEST(MeasureOnCpu, BadAllocIsAFailedRowThatNamesTheBytes) {
  const Measurement m = measured(out_of_memory_kernel());
  EXPECT_EQ(m.state, RowState::failed);
  EXPECT_NE(m.reason.find("KiB"), std::string::npos) << m.reason;
  EXPECT_EQ(m.time.n, 0);
}

TEST(MeasureOnCpu, AKernelsErrorIsAFailedRowWithItsWords) {
  const Measurement m = measured(failing_kernel());
  EXPECT_EQ(m.state, RowState::failed);
  EXPECT_EQ(m.reason, "the third tile did not come back");
  EXPECT_NE(figure(m, "time_us_median").reason.find("the third tile"), std::string::npos);
}

TEST(MeasureOnCpu, AKernelThatDoesNotTakeTheProblemIsARefusedRow) {
  const Measurement m = measured(refusing_kernel());
  EXPECT_EQ(m.state, RowState::refused);
  EXPECT_EQ(m.reason, "refusing takes no problem at all");
}

TEST(MeasureOnCpu, WhatDoesNotFitIsRefusedBeforeItIsAllocated) {
  const Measurement m = measured(greedy_kernel());
  EXPECT_EQ(m.state, RowState::refused);
  EXPECT_FALSE(m.reason.empty());
  EXPECT_EQ(m.workspace_bytes, 1ULL << 60);
  EXPECT_EQ(figure(m, "memory_overhead_bytes").value, static_cast<double>(1ULL << 60));
}

TEST(MeasureOnCpu, AMemoryLimitRefuses) {
  Point p = quick();
  p.memory_limit = 64;
  const Measurement m = measured(real_row(), p);
  EXPECT_EQ(m.state, RowState::refused);
}

TEST(MeasureOnCpu, AnInvalidProblemIsARefusedRow) {
  Point p = quick();
  p.problem.D = 0;
  const Measurement m = measured(real_row(), p);
  EXPECT_EQ(m.state, RowState::refused);
  EXPECT_EQ(m.figures.size(), metric_table().size());
}

TEST(MeasureOnCpu, AStopReachesIntoARunningKernel) {
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source.request_stop();
  });
  const Measurement m = measured(endless_kernel(), quick(), source.get_token());
  EXPECT_EQ(m.state, RowState::cancelled);
  EXPECT_EQ(m.reason, "stopped between two tiles");
}

}  // namespace
}  // namespace attn
