#include "app/worker/cpu_bench.h"

#include <functional>
#include <string>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "profiling/figures/metrics.h"
#include "profiling/measure/point.h"
#include "profiling/measure/stages.h"

namespace attn {

PointRunner CpuBench::runner() {
  return [this](const Point& p, const std::function<void(const std::string&)>&, std::stop_token stop) {
    return measure(p, std::move(stop));
  };
}

Measurement CpuBench::measure(const Point& p, std::stop_token stop) {
  const InEnglish recorded;
  const std::lock_guard lock(mutex_);
  Measurement lost = empty_row(p, Processor::cpu);
  Stages stages(lost);
  stages.enter("worker");  // which tells of its own stages only where it answers
  auto m = client_.measure(p, {0, std::move(stop)});
  stages.end();
  if (m) return *std::move(m);
  lost.key.device = cpu_device().name;
  lost.state = m.error().kind == ErrorKind::cancelled ? RowState::cancelled : RowState::failed;
  lost.reason = m.error().message;
  fill_figures(lost);
  return lost;
}

Result<std::vector<double>> CpuBench::turn(const Point& p, const Turn& turn, const std::stop_token& stop) {
  const InEnglish recorded;
  const std::lock_guard lock(mutex_);
  return client_.turn(p, turn, {0, stop});
}

void CpuBench::let_go() {
  const std::lock_guard lock(mutex_);
  // A worker that is lost has let go as well; the next request gets a new one.
  constexpr double kSeconds = 30;
  (void)client_.let_go({kSeconds, {}});
}

}  // namespace attn
