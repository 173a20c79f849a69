#include "app/worker/compiled_row.h"

#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/measure/gpu/compiled_figures.h"
#include "profiling/measure/point.h"
#include "profiling/measure/stages.h"

namespace attn {
namespace {

Result<Plan> plan_of(const Point& p, const gpu::OwnKernels& own, const Device& device) {
  const auto row = find_kernel(p.kernel, own);
  if (!row) return tl::unexpected(row.error());
  if (auto takes = (*row)->supports(**row, p.problem, p.options, device); !takes) return tl::unexpected(takes.error());
  return (*row)->plan(**row, p.problem, p.options, device);
}

Result<void> compile(const Point& p, const gpu::OwnKernels& own, gpu::CompileService& service,
                     const std::filesystem::path& edited_kernels, Measurement& m) {
  const auto device = gpu::device_for(p.arch);
  if (!device) return tl::unexpected(device.error());
  m.key.device = device->name;
  const auto plan = plan_of(p, own, *device);
  if (!plan) return tl::unexpected(plan.error());
  m.key.options = plan->options;
  m.launches = plan->launches;
  m.workspace_bytes = plan->workspace_bytes;
  m.compiled_with = gpu::build_words(*plan->kernel);
  const auto report = gpu::inspect(service, *plan, *device, edited_kernels);
  if (!report) return tl::unexpected(report.error());
  m.key.source_hash = report->compiled.source_hash;
  m.warnings = report->compiled.said();
  put_compiled_figures(m, report->entries);
  return ok();
}

}  // namespace

Measurement compiled_row(const Point& p, const gpu::OwnKernels& own, gpu::CompileService& service,
                         const std::filesystem::path& edited_kernels) {
  Measurement m = empty_row(p, Processor::gpu);
  m.state = RowState::refused;
  Stages stages(m);
  stages.enter("compile");
  if (auto compiled = compile(p, own, service, edited_kernels, m); !compiled) {
    m.reason = compiled.error().message;
    if (compiled.error().kind == ErrorKind::failed) m.state = RowState::failed;
    put_no_compiled_figures(m, m.reason);
  }
  stages.end();
  fill_figures(m);
  return m;
}

}  // namespace attn
