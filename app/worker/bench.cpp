#include "app/worker/bench.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/worker/collect.h"
#include "app/worker/compile_ahead.h"
#include "kernels/base/text.h"
#include "kernels/cpu/device.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/inspect.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/rows.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/ladder.h"
#include "profiling/figures/metrics.h"
#include "profiling/measure/gpu/compiled_figures.h"
#include "profiling/measure/gpu/on_gpu.h"
#include "profiling/measure/point.h"
#include "profiling/measure/stages.h"
#include "profiling/session/session.h"
#include "profiling/spec/sweep_point.h"
#include "profiling/tune/candidates.h"

namespace attn {
namespace {

constexpr double kHelloSeconds = 20;  // a first context on a slow machine
// For the lab: a compilation, the check and a few repeats take one or two; a kernel that never ends takes all of it.
constexpr double kTrySeconds = 20;
// Repeats of a try: enough for an interval, and no wait.
constexpr double kTryRepeatSeconds = 0.15;
constexpr std::int32_t kTryRepeats = 7;

Device stand_in(const MeasureSpec& s) {
  auto device = gpu::device_for(s.arch);
  return device ? *std::move(device) : Device{};
}

}  // namespace

GpuBench::GpuBench(GpuClient::Starter start, CompilerOpener compiler, std::filesystem::path cache)
    : client_(std::move(start)), open_compiler_(std::move(compiler)), cache_(std::move(cache)) {}

void GpuBench::bring(gpu::OwnKernels own) {
  const std::lock_guard lock(mutex_);
  client_.bring(std::move(own));
}

void GpuBench::meet(const gpu::OwnKernels& own) {
  const std::lock_guard lock(mutex_);
  gpu::OwnKernels all = client_.own();
  for (const auto& kernel : own)
    if (std::ranges::find(all, kernel->id, [](const auto& k) { return k->id; }) == all.end()) all.push_back(kernel);
  if (all.size() > client_.own().size()) client_.bring(std::move(all));
}

// A point's whole time: inputs, compilation, the check against fp64, counters; then its repeats, which may take four
// times their limit.
double GpuBench::max_seconds(const MeasureSpec& s) const {
  constexpr double kAround = 120;
  return point_seconds_ > 0 ? point_seconds_ : kAround + 8 * s.seconds_per_point;
}

bool GpuBench::has_gpu_kernel(const SweepSpec& s) const {
  return std::any_of(s.kernels.begin(), s.kernels.end(), [&](const std::string& id) {
    const auto row = find_kernel(id, client_.own());
    return row && (*row)->processor == Processor::gpu;
  });
}

Result<Plan> GpuBench::plan_on(const Device& device, const Point& p) const {
  const auto row = find_kernel(p.kernel, client_.own());
  if (!row) return tl::unexpected(row.error());
  if (auto takes = (*row)->supports(**row, p.problem, p.options, device); !takes) return tl::unexpected(takes.error());
  return (*row)->plan(**row, p.problem, p.options, device);
}

Result<GpuHello> GpuBench::look(std::stop_token stop, bool counters) {
  const InEnglish recorded;
  const std::lock_guard lock(mutex_);
  if (!hello_) {
    auto hello = client_.hello({kHelloSeconds, stop}, counters);
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
  meet(spec.own);
  runner.device = stand_in(spec);
  if (!has_gpu_kernel(spec)) return runner;
  const auto device = device_of_sweep(spec, stop);
  if (device) {
    runner.device = *device;
    runner.measure = [this, on = *device](const Point& p, const auto& now, const std::stop_token& stopping) {
      Measurement m = measure(p, now, stopping);
      if (m.state == RowState::done) put_code(on, p, stopping, m);
      return m;
    };
  } else {
    runner.measure = [this, why = device.error().message](const Point& p, const auto& now,
                                                          const std::stop_token& stopping) {
      Measurement m = compile_alone(p, why, now, stopping);
      if (!m.key.source_hash.empty()) put_code(stand_in(p), p, stopping, m);
      return m;
    };
  }
  return runner;
}

Result<GpuRecorded> GpuBench::record(GpuRunRequest request, const std::function<void(const std::string&)>& now,
                                     const std::stop_token& stop) {
  const InEnglish recorded;
  const auto hello = look(stop, false);
  if (!hello) return tl::unexpected(hello.error());
  if (hello->gpus.empty()) return fail(ErrorKind::cannot_run, "this machine has no NVIDIA GPU");
  const std::lock_guard lock(mutex_);
  request.gpu = hello->gpus.front().index;
  constexpr double kSeconds = 120;  // compilation included
  return record_on_gpu(client_, request, gpu::device_of(hello->gpus.front()), {kSeconds, stop}, now);
}

std::vector<Measurement> GpuBench::compiled(const SweepSpec& spec, const TunedOptions& tuned,
                                            const std::stop_token& stop) {
  const InEnglish recorded;
  std::vector<Measurement> rows;
  if (!validate(spec)) return rows;
  meet(spec.own);
  for (const std::int64_t value : spec.values) {
    for (const std::string& id : spec.kernels) {
      const auto row = find_kernel(id, client_.own());
      if (!row || (*row)->processor != Processor::gpu) continue;
      if (stop.stop_requested()) return rows;
      Point p = point_at(spec, **row, value);
      if (spec.tuned && has_tiles(**row)) {
        const auto kept = tuned(**row, p.problem, p.options, stand_in(spec));
        if (!kept) continue;
        p.options = *kept;
      }
      rows.push_back(compile_alone(
          p, "it was not requested", [](const std::string&) {}, stop));
    }
  }
  return rows;
}

Provenance GpuBench::provenance(const SweepSpec& spec) {
  if (!has_gpu_kernel(spec)) return provenance_here();
  const auto hello = look({}, spec.counters);
  return hello ? provenance_on(*hello, spec.gpu) : provenance_here();
}

Measurement GpuBench::measure(const Point& p, const std::function<void(const std::string&)>& now,
                              std::stop_token stop) {
  const InEnglish recorded;
  const std::lock_guard lock(mutex_);
  Measurement lost = empty_row(p, Processor::gpu);
  Stages stages(lost);
  stages.enter("worker");  // which tells of its own stages only where it answers
  auto m = client_.measure(p, {max_seconds(p), std::move(stop)}, now);
  if (m) return *std::move(m);
  stages.end();
  // The worker is gone; the next point gets a new one.
  if (hello_ && *hello_) {
    for (const gpu::GpuProperties& g : (*hello_)->gpus)
      if (g.index == p.gpu) lost.key.device = g.name;
  }
  lost.state = m.error().kind == ErrorKind::cancelled ? RowState::cancelled : RowState::failed;
  lost.reason = m.error().message;
  fill_figures(lost);
  return lost;
}

Result<std::vector<double>> GpuBench::turn(const Point& p, const Turn& turn, const std::stop_token& stop) {
  const InEnglish recorded;
  const std::lock_guard lock(mutex_);
  return client_.turn(p, turn, {max_seconds(p), stop});
}

void GpuBench::let_go() {
  const std::lock_guard lock(mutex_);
  // A worker that is lost has let go as well; the next request gets a new one.
  (void)client_.let_go({kHelloSeconds, {}});
}

std::unique_ptr<CompileAhead> GpuBench::compile_ahead(std::vector<Point> points, const Device& device) const {
  constexpr int kMost = 8;  // the worker and who waits for it want cores too
  const int threads = std::clamp(cpu_device().cores / 2, 1, kMost);
  return std::make_unique<CompileAhead>(std::move(points), device, open_compiler_, cache_,
                                        static_cast<unsigned>(threads));
}

Result<Point> GpuBench::point_of_row(const Measurement& row, const std::stop_token& stop) {
  const InEnglish recorded;
  const auto hello = look(stop);
  if (!hello) return tl::unexpected(hello.error());
  const auto& gpus = hello->gpus;
  const auto at = std::find_if(gpus.begin(), gpus.end(), [&](const gpu::GpuProperties& g) {
    return same_device(g.name, g.uuid, row.key.device, row.key.device_uuid);
  });
  if (at == gpus.end())
    return fail(ErrorKind::cannot_run,
                fmt::format("this machine has no {}, on which the row was measured", row.key.device));
  Point p;
  p.gpu = at->index;
  p.arch = at->arch();
  p.kernel = row.key.kernel;
  p.problem = row.key.problem;
  p.l2 = row.key.l2;
  return p;
}

Measurement GpuBench::try_out(Point p, const std::function<void(const std::string&)>& now,
                              const std::stop_token& stop) {
  const InEnglish recorded;
  p.counters = false;
  p.seconds_per_point = kTryRepeatSeconds;
  p.min_repeats = kTryRepeats;
  const auto hello = look(stop, false);
  const std::lock_guard lock(mutex_);
  Measurement lost = empty_row(p, Processor::gpu);
  Result<Measurement> m = fail(ErrorKind::cannot_run, "");
  if (hello) {
    const auto at = std::ranges::find(hello->gpus, p.gpu, &gpu::GpuProperties::index);
    const gpu::GpuProperties& g = at == hello->gpus.end() ? hello->gpus.front() : *at;
    p.gpu = g.index;
    p.arch = g.arch();
    lost.key.device = g.name;
    lost.key.device_uuid = g.uuid;
    std::unique_ptr<ListingAhead> listing;
    m = client_.measure(p, {kTrySeconds, stop}, [&](const std::string& words) {
      if (listing == nullptr && says_it_ran(words))
        listing = std::make_unique<ListingAhead>(gpu::ListingSubject{p.kernel, p.problem, p.options, p.arch},
                                                 client_.own(), stop);
      now(words);
    });
    if (m && m->state == RowState::done && listing != nullptr) keep(m->key, std::move(listing));
  } else {
    m = client_.compile(p, {kTrySeconds, stop}, now);
    if (m && m->reason.empty()) m->reason = fmt::format("no GPU: {}", hello.error().message);
  }
  if (m) return *std::move(m);
  lost.state = m.error().kind == ErrorKind::cancelled ? RowState::cancelled : RowState::failed;
  lost.reason = m.error().message;
  fill_figures(lost);
  return lost;
}

void GpuBench::sample(Measurement& row, const std::function<void(const std::string&)>& now, std::stop_token stop) {
  const InEnglish recorded;
  const auto p = point_of_row(row, stop);
  if (!p) {
    row.no_samples = p.error().message;
    return;
  }
  const std::lock_guard lock(mutex_);
  sample_row(client_, *p, p->arch, {max_seconds(*p), std::move(stop)}, now, row, take_listing(row.key));
}

// The lab's text and the original that it is held against.
void GpuBench::keep(const MeasurementKey& key, std::unique_ptr<ListingAhead> listing) {
  constexpr std::size_t kMost = 2;
  if (listings_.size() == kMost) listings_.erase(listings_.begin());
  listings_.emplace_back(key, std::move(listing));
}

std::unique_ptr<ListingAhead> GpuBench::take_listing(const MeasurementKey& key) {
  const auto at = std::ranges::find(listings_, key, [](const auto& kept) { return kept.first; });
  if (at == listings_.end()) return nullptr;
  std::unique_ptr<ListingAhead> listing = std::move(at->second);
  listings_.erase(at);
  return listing;
}

void GpuBench::beat(Measurement& row, const std::function<void(const std::string&)>& now, std::stop_token stop) {
  const InEnglish recorded;
  const auto p = point_of_row(row, stop);
  if (!p) {
    row.no_heartbeat = p.error().message;
    return;
  }
  const std::lock_guard lock(mutex_);
  beat_row(client_, *p, {max_seconds(*p), std::move(stop)}, now, row);
}

void GpuBench::count(Measurement& row, const std::function<void(const std::string&)>& now, std::stop_token stop) {
  const InEnglish recorded;
  const auto p = point_of_row(row, stop);
  if (!p) {
    row.no_counts = p.error().message;
    return;
  }
  const std::lock_guard lock(mutex_);
  count_row(client_, *p, p->arch, {max_seconds(*p), std::move(stop)}, now, row);
}

Measurement GpuBench::compile_alone(const Point& p, const std::string& why,
                                    const std::function<void(const std::string&)>& now, const std::stop_token& stop) {
  const InEnglish recorded;
  const std::lock_guard lock(mutex_);
  const Device device = stand_in(p);
  Measurement m = empty_row(p, Processor::gpu);
  m.key.device = device.name;
  m.state = RowState::refused;
  m.reason = fmt::format("no GPU: {}", why);
  const auto plan = plan_on(device, p);
  if (!plan) {
    m.reason = plan.error().message;
  } else {
    m.key.options = plan->options;
    m.launches = plan->launches;
    m.workspace_bytes = plan->workspace_bytes;
    m.compiled_with = gpu::build_words(*plan->kernel);
    now("compiling for " + p.arch);
    Stages stages(m);
    stages.enter("compile");
    if (auto compiled = put_compiled(*plan, device, stop, m); !compiled)
      put_no_compiled_figures(m, compiled.error().message);
  }
  fill_figures(m);
  return m;
}

Result<gpu::CompileService> GpuBench::compile_service(const std::stop_token& stop) {
  if (!compiler_) {
    auto opened = open_compiler_();
    if (!opened) return tl::unexpected(opened.error());
    compiler_ = std::move(*opened);
  }
  compiler_->heed(stop);
  return gpu::CompileService(*compiler_, cache_);
}

void GpuBench::put_code(const Device& device, const Point& p, const std::stop_token& stop, Measurement& m) {
  // Without a cache it would be compiled once more for each row.
  if (cache_.empty() || !find_nvdisasm()) return;
  const InEnglish recorded;
  const std::lock_guard lock(mutex_);
  const auto plan = plan_on(device, p);
  if (!plan) return;
  auto source = gpu::source_of(*plan->kernel, plan->problem, gpu::edited_kernels_folder());
  if (!source || source->hash != m.key.source_hash) return;  // it was edited since
  auto service = compile_service(stop);
  if (!service) return;
  const auto compiled =
      service->compile({*std::move(source), device.arch, gpu::defines_of(*plan, gpu::may_be_aligned(plan->problem))});
  if (compiled) m.code = codes_.of(compiled->code, device.arch, stop);
}

Result<void> GpuBench::put_compiled(const Plan& plan, const Device& device, const std::stop_token& stop,
                                    Measurement& m) {
  auto service = compile_service(stop);
  if (!service) return tl::unexpected(service.error());
  const auto report = gpu::inspect(*service, plan, device, gpu::edited_kernels_folder());
  if (!report) return tl::unexpected(report.error());
  m.key.source_hash = report->compiled.source_hash;
  m.warnings = report->compiled.said();
  put_compiled_figures(m, report->entries);
  return ok();
}

}  // namespace attn
