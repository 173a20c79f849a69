#include "viz/bench/planned.h"

#include "kernels/cpu/device.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "profiling/figures/metrics.h"

namespace attn {
namespace {

Measurement planned_row(const KernelRow& row, const SweepSpec& sweep, std::int64_t value, const Device& device) {
  Measurement m;
  m.key.kernel = row.id;
  m.key.problem = problem_at(sweep, value);
  m.key.options = options_at(sweep, value);
  m.key.device = device.name;
  if (row.processor == Processor::gpu) m.key.l2 = sweep.l2;
  m.processor = row.processor;
  if (auto can = row.supports(row, m.key.problem, m.key.options, device); !can) {
    m.state = RowState::refused;
    m.reason = can.error().message;
  } else if (auto plan = row.plan(row, m.key.problem, m.key.options, device); !plan) {
    m.state = RowState::refused;
    m.reason = plan.error().message;
  } else {
    m.key.options = plan->options;
    m.workspace_bytes = plan->workspace_bytes;
    m.launches = plan->launches;
  }
  fill_figures(m);
  return m;
}

}  // namespace

std::vector<Measurement> planned_rows(const SweepSpec& sweep) {
  std::vector<Measurement> rows;
  if (!validate(sweep)) return rows;
  const Device cpu = cpu_device();
  const auto gpu = gpu::device_for(sweep.arch);  // the plan hangs on the architecture alone
  for (const std::int64_t value : sweep.values) {
    for (const std::string& id : sweep.kernels) {
      const auto row = find_kernel(id);
      if (row && (*row)->processor == Processor::cpu) rows.push_back(planned_row(**row, sweep, value, cpu));
      if (row && (*row)->processor == Processor::gpu && gpu) rows.push_back(planned_row(**row, sweep, value, *gpu));
    }
  }
  return rows;
}

}  // namespace attn
