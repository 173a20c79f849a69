// Points of a sweep that choose `ranks`, as rings of processes.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/ring/measured_ring.h"
#include "app/ring/ring.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/spec/measure_spec.h"
#include "profiling/sweep/sweep.h"

namespace attn {

class RingBench {
 public:
  explicit RingBench(RingProcesses::Starter start = RingProcesses::start_program) : start_(std::move(start)) {}

  // For run_sweep(). Points of no ring are left to `others`; empty: they are timed in this process. The sweep
  // sets the rows against the CPU's peak. Used by one thread at a time, and no longer than this lives.
  PointRunner runner(PointRunner others);

 private:
  using Now = std::function<void(const std::string&)>;
  Measurement measure(const KernelRow& row, const Point& p, const Now& now, std::stop_token stop);
  Result<MeasuredRing> run(const KernelRow& row, const Point& p, RingMeasure how);
  // One rank with as many threads on the same problem: measured once a sweep.
  std::optional<TimeStatistics>& alone(const Point& p);

  RingProcesses::Starter start_;
  std::vector<std::pair<Point, std::optional<TimeStatistics>>> alone_;
};

}  // namespace attn
