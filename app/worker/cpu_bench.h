// CPU kernels timed in a process of their own: neither the window's threads nor its drawing stand in their figures, and
// one that breaks takes no window along. Used by one thread at a time; a second one waits.
#pragma once

#include <mutex>
#include <stop_token>
#include <vector>

#include "app/worker/client.h"
#include "kernels/base/result.h"
#include "profiling/measure/turn.h"
#include "profiling/spec/measure_spec.h"
#include "profiling/sweep/sweep.h"

namespace attn {

class CpuBench {
 public:
  explicit CpuBench(GpuClient::Starter start = GpuClient::start_program) : client_(std::move(start)) {}

  // For run_sweep().
  PointRunner runner();
  // What went wrong is the row's state and reason. Its process does not know this CPU's peak: whoever does sets the row
  // against it.
  Measurement measure(const Point& p, std::stop_token stop);
  // Repeats of a point that was measured before; its inputs stay until let_go().
  Result<std::vector<double>> turn(const Point& p, const Turn& turn, const std::stop_token& stop);
  void let_go();

 private:
  std::mutex mutex_;  // guards client_
  GpuClient client_;
};

}  // namespace attn
