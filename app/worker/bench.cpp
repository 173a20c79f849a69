#include "app/worker/bench.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/measure/compiled_figures.h"
#include "profiling/session/session.h"

namespace attn {
namespace {

constexpr double kLookSeconds = 20;  // a first context on a slow machine

// A point's whole time: inputs, compilation, the check against fp64, counters; then its repeats, which may take four
// times their limit.
double max_seconds(const SweepSpec& s) {
  constexpr double kAround = 120;
  return kAround + 8 * s.seconds_per_point;
}

Device stand_in(const SweepSpec& s) {
  auto device = gpu::device_for(s.arch);
  return device ? *std::move(device) : Device{};
}

bool has_gpu_kernel(const SweepSpec& s) {
  return std::any_of(s.kernels.begin(), s.kernels.end(), [](const std::string& id) {
    const auto row = find_kernel(id);
    return row && (*row)->processor == Processor::gpu;
  });
}

GpuMeasureRequest request_of(const KernelRow& row, const Problem& p, const Options& o, const SweepSpec& s) {
  GpuMeasureRequest r;
  r.gpu = s.gpu;
  r.kernel = row.id;
  r.problem = p;
  r.options = o;
  r.generator = s.generator;
  r.seed = s.seed;
  r.seconds = s.seconds_per_point;
  r.min = s.min_repeats;
  r.l2 = s.l2;
  r.counters = s.counters;
  r.verify = s.verify;
  r.verify_full = s.verify_full;
  r.memory_limit = s.memory_limit;
  return r;
}

Measurement row_without_figures(const KernelRow& row, const Problem& p, const Options& o, const SweepSpec& s,
                                std::string device) {
  Measurement m;
  m.key.kernel = row.id;
  m.key.problem = p;
  m.key.options = o;
  m.key.l2 = s.l2;
  m.key.device = std::move(device);
  m.processor = Processor::gpu;
  return m;
}

}  // namespace

GpuBench::GpuBench(GpuClient::Starter start, CompilerOpener compiler, std::filesystem::path cache)
    : client_(std::move(start)), open_compiler_(std::move(compiler)), cache_(std::move(cache)) {}

Result<GpuHello> GpuBench::look(std::stop_token stop, bool counters) {
  const std::lock_guard lock(mutex_);
  if (!hello_) {
    auto hello = client_.hello({kLookSeconds, stop}, counters);
    if (!hello && stop.stop_requested()) return hello;  // not an answer to remember
    if (hello && hello->gpus.empty()) hello = fail(ErrorKind::cannot_run, "NVIDIA's driver sees no GPU");
    hello_ = std::move(hello);
  }
  return *hello_;
}

Result<Device> GpuBench::device_of_sweep(const SweepSpec& spec, const std::stop_token& stop) {
  const auto hello = look(stop, spec.counters);
  if (!hello) return tl::unexpected(hello.error());
  const auto at =
      std::find_if(hello->gpus.begin(), hello->gpus.end(), [&](const auto& g) { return g.index == spec.gpu; });
  if (at == hello->gpus.end())
    return fail(ErrorKind::cannot_run,
                fmt::format("there is no GPU {}: this machine has {}", spec.gpu, hello->gpus.size()));
  return gpu::device_of(*at);
}

GpuRunner GpuBench::runner(const SweepSpec& spec, std::stop_token stop) {
  GpuRunner runner;
  runner.device = stand_in(spec);
  if (!has_gpu_kernel(spec)) return runner;
  const auto device = device_of_sweep(spec, stop);
  if (device) {
    runner.device = *device;
    runner.measure = [this](const KernelRow& row, const Problem& p, const Options& o, const SweepSpec& s,
                            const auto& now,
                            std::stop_token stopping) { return measure(row, p, o, s, now, std::move(stopping)); };
  } else {
    runner.measure = [this, why = device.error().message](const KernelRow& row, const Problem& p, const Options& o,
                                                          const SweepSpec& s, const auto& now, std::stop_token) {
      return compile_alone(row, p, o, s, why, now);
    };
  }
  return runner;
}

Provenance GpuBench::provenance(const SweepSpec& spec) {
  if (!has_gpu_kernel(spec)) return provenance_here();
  const auto hello = look({}, spec.counters);
  return hello ? provenance_on(*hello, spec.gpu) : provenance_here();
}

Measurement GpuBench::measure(const KernelRow& row, const Problem& p, const Options& o, const SweepSpec& s,
                              const std::function<void(const std::string&)>& now, std::stop_token stop) {
  const std::lock_guard lock(mutex_);
  auto m = client_.measure(request_of(row, p, o, s), {max_seconds(s), std::move(stop)}, now);
  if (m) return *std::move(m);
  // The worker is gone; the next point gets a new one.
  std::string device;
  if (hello_ && *hello_) {
    for (const gpu::GpuProperties& g : (*hello_)->gpus)
      if (g.index == s.gpu) device = g.name;
  }
  Measurement lost = row_without_figures(row, p, o, s, device);
  lost.state = m.error().kind == ErrorKind::cancelled ? RowState::cancelled : RowState::failed;
  lost.reason = m.error().message;
  fill_figures(lost);
  return lost;
}

Measurement GpuBench::compile_alone(const KernelRow& row, const Problem& p, const Options& o, const SweepSpec& s,
                                    const std::string& why, const std::function<void(const std::string&)>& now) {
  const std::lock_guard lock(mutex_);
  const Device device = stand_in(s);
  Measurement m = row_without_figures(row, p, o, s, device.name);
  m.state = RowState::refused;
  m.reason = fmt::format("no GPU: {}", why);
  auto can = row.supports(row, p, o, device);
  auto plan = can ? row.plan(row, p, o, device) : Result<Plan>(tl::unexpected(can.error()));
  if (!plan) {
    m.reason = plan.error().message;
  } else {
    m.key.options = plan->options;
    m.launches = plan->launches;
    m.workspace_bytes = plan->workspace_bytes;
    now("compiling for " + s.arch);
    if (auto compiled = put_compiled(*plan, device, m); !compiled) put_no_compiled_figures(m, compiled.error().message);
  }
  fill_figures(m);
  return m;
}

Result<void> GpuBench::put_compiled(const Plan& plan, const Device& device, Measurement& m) {
  if (!compiler_) {
    auto opened = open_compiler_();
    if (!opened) return tl::unexpected(opened.error());
    compiler_ = std::move(*opened);
  }
  gpu::CompileService service(*compiler_, cache_);
  const auto report = gpu::inspect(service, plan, device, gpu::edited_kernels_folder());
  if (!report) return tl::unexpected(report.error());
  m.key.source_hash = report->compiled.source_hash;
  put_compiled_figures(m, report->entries);
  return ok();
}

}  // namespace attn
