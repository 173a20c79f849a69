#include "profiling/measure/gpu/on_gpu.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/bytes.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/specialise.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/fits.h"
#include "kernels/model/problem/validate.h"
#include "profiling/cupti/nvtx_range.h"
#include "profiling/figures/metrics.h"
#include "profiling/figures/row_state.h"
#include "profiling/figures/statistics.h"
#include "profiling/measure/gpu/compiled_figures.h"
#include "profiling/measure/gpu/counter_figures.h"
#include "profiling/measure/gpu/gpu_timing.h"
#include "profiling/measure/point.h"
#include "profiling/measure/stages.h"

namespace attn {
namespace {

constexpr std::string_view kChecking = "checking ", kTiming = "timing ";  // begin what is said once it ran

// One point's way from what was asked for to its figures.
class PointOnGpu {
 public:
  PointOnGpu(const Point& p, GpuTools& tools, Measurement& m, Stages& stages)
      : p_(p),
        tools_(tools),
        m_(m),
        stages_(stages),
        driver_(tools.queue->driver()),
        device_(gpu::device_of(tools.properties)) {}

  Result<void> take() {
    stages_.enter("peaks");
    if (auto peaked = peaks(); !peaked) return peaked;
    stages_.enter("plan");
    if (auto planned = plan(); !planned) return planned;
    const NvtxRange range(fmt::format("{} on {}", p_.kernel, describe(p_.problem)));
    stages_.enter("inputs");
    say("making the inputs");
    const auto made = problem().inputs(p_);
    if (!made) return tl::unexpected(made.error());
    const Inputs* inputs = *made;
    stages_.enter("upload");
    say("compiling and running " + p_.kernel);
    auto run = gpu::DeviceRun::place(*tools_.queue, plan_, tensor_bytes_of(*inputs));
    if (!run) return tl::unexpected(run.error());
    stages_.enter("compile");
    if (auto compiled = compile(); !compiled) return tl::unexpected(run->on(compiled.error()));
    stages_.enter("run");
    if (auto ran = run->once(); !ran) return ran;
    compiled_figures();
    if (auto verified = verify(*run, *inputs); !verified) return verified;
    if (auto timed = time(*run); !timed) return timed;
    return count(*run);
  }

 private:
  ProblemCache& problem() { return tools_.problem != nullptr ? *tools_.problem : own_; }
  void say(const std::string& now) const {
    if (tools_.progress) tools_.progress(now);
  }

  Result<void> peaks();
  Result<void> plan();
  // Those that are compiled: a training step's are its parts'.
  std::span<const Plan> compiled_plans() const;
  Result<gpu::Queue::Loaded*> load(const Plan& plan);
  Result<void> compile();
  void compiled_figures();
  Result<void> verify(gpu::DeviceRun& run, const Inputs& inputs);
  Result<void> time(gpu::DeviceRun& run);
  Result<void> count(gpu::DeviceRun& run);

  const Point& p_;
  GpuTools& tools_;
  Measurement& m_;
  Stages& stages_;
  gpu::Driver& driver_;
  Device device_;
  Plan plan_;
  ProblemCache own_;
};

// What this GPU can do at most. One that cannot be had says why, and the rest goes on.
Result<void> PointOnGpu::peaks() {
  const auto peak = tools_.peaks->peak();
  if (!peak) return tl::unexpected(peak.error());
  m_.peaks.peak_gflops = peak->gflops;
  m_.peaks.copy_gb_per_s = peak->copy_gb_per_s;
  m_.peaks.read_gb_per_s = peak->read_gb_per_s;
  m_.peaks.l2_gb_per_s = peak->l2_gb_per_s;
  m_.peaks.shared_gb_per_s = peak->shared_gb_per_s;
  m_.peaks.why_not = peak->why_not;
  const auto row = find_kernel(p_.kernel, tools_.own);
  // Where there is no such kernel plan() says so.
  const Products products = row ? products_of(**row, p_.problem.dtype) : Products{};
  if (products.pipe == Pipe::multiply_add) return ok();
  const auto tensor = tools_.peaks->tensor_gflops(products.pipe, p_.problem.dtype);
  if (tensor) {
    m_.peaks.tensor_gflops = *tensor;
    m_.peaks.products_each = products.each;
  } else if (driver_.lost()) {
    return tl::unexpected(tensor.error());
  } else {
    m_.peaks.why_not[kTensorPeak] = tensor.error().message;
  }
  return ok();
}

Result<void> PointOnGpu::plan() {
  const auto row = find_kernel(p_.kernel, tools_.own);
  if (!row) return tl::unexpected(row.error());
  if (auto valid = validate(p_.problem); !valid) return valid;
  if (auto takes = (*row)->supports(**row, p_.problem, p_.options, device_); !takes) return takes;
  auto plan = (*row)->plan(**row, p_.problem, p_.options, device_);
  if (!plan) return tl::unexpected(plan.error());
  plan_ = std::move(*plan);
  m_.key.options = plan_.options;
  m_.launches = plan_.launches;
  m_.compiled_with = gpu::build_words(**row);
  m_.workspace_bytes = plan_.workspace_bytes;
  if (const auto hash = gpu::source_hash_of(**row, p_.problem, tools_.edited_kernels)) m_.key.source_hash = *hash;
  std::uint64_t room = p_.memory_limit;
  if (room == 0) {
    const auto free = driver_.free_memory();
    if (!free) return tl::unexpected(free.error());
    room = *free;
  }
  return check_memory(plan_, device_, room);
}

// The queue keeps it: the first run finds it there.
Result<gpu::Queue::Loaded*> PointOnGpu::load(const Plan& plan) {
  return tools_.queue->load(plan.kernel->id, gpu::defines_of(plan, gpu::may_be_aligned(plan.problem)),
                            gpu::own_source(*plan.kernel));
}

std::span<const Plan> PointOnGpu::compiled_plans() const {
  return plan_.parts.empty() ? std::span(&plan_, 1) : std::span(plan_.parts);
}

Result<void> PointOnGpu::compile() {
  for (const Plan& plan : compiled_plans())
    if (const auto loaded = load(plan); !loaded) return tl::unexpected(loaded.error());
  return ok();
}

void PointOnGpu::compiled_figures() {
  std::vector<gpu::EntryReport> all;
  for (const Plan& plan : compiled_plans()) {
    const auto loaded = load(plan);
    if (!loaded) return put_no_compiled_figures(m_, loaded.error().message);
    const auto entries = gpu::report_entries((*loaded)->compiled, plan, device_);
    if (!entries) return put_no_compiled_figures(m_, entries.error().message);
    all.insert(all.end(), entries->begin(), entries->end());
    for (std::string& words : (*loaded)->compiled.said()) m_.warnings.push_back(std::move(words));
  }
  put_compiled_figures(m_, all);
}

Result<void> PointOnGpu::verify(gpu::DeviceRun& run, const Inputs& inputs) {
  if (!p_.verify) return ok();
  stages_.enter("verify");
  say(fmt::format("{}{} against fp64", kChecking, p_.kernel));
  Outputs out = empty_outputs(p_.problem);
  if (auto got = run.fetch(out); !got) return got;
  const auto by = problem().judged_by(p_, {});
  if (!by) return tl::unexpected(by.error());
  m_.verdict = judge(p_.problem, inputs, (*by)->reference, out, (*by)->sample);
  return ok();
}

// A clock that moved by more than this changes the times as much.
bool clock_drifted(std::span<const SensorReading> readings) {
  constexpr double kShare = 0.03;
  if (readings.empty()) return false;
  const auto [min, max] =
      std::ranges::minmax_element(readings, {}, [](const SensorReading& r) { return r.sm_clock_mhz; });
  return max->sm_clock_mhz - min->sm_clock_mhz > kShare * max->sm_clock_mhz;
}

using Readings = std::span<const SensorReading>;

// The middle of those that have it.
template <std::optional<double> SensorReading::*value>
Figure middle_of(Readings readings, const std::string& method) {
  std::vector<double> values;
  for (const SensorReading& r : readings)
    if (r.*value) values.push_back(*(r.*value));
  if (values.empty()) return {Origin::not_available, 0, "", "NVML does not report this value for this GPU"};
  std::ranges::sort(values);
  return {Origin::measured, quantile(values, 0.5), method, ""};
}

// The share of the readings in which something held the clocks down, and what, the most frequent first.
Figure held_down(Readings readings, const std::string& method) {
  std::vector<std::pair<std::string, std::size_t>> counts;
  std::size_t known = 0, held = 0;
  for (const SensorReading& r : readings) {
    if (!r.held_by) continue;
    ++known;
    const auto reasons = words_of_reasons(*r.held_by);
    held += reasons.empty() ? 0 : 1;
    for (const std::string& reason : reasons) {
      const auto at = std::ranges::find(counts, reason, &std::pair<std::string, std::size_t>::first);
      if (at == counts.end())
        counts.emplace_back(reason, 1);
      else
        ++at->second;
    }
  }
  if (known == 0) return {Origin::not_available, 0, "", "NVML does not report this value for this GPU"};
  std::ranges::stable_sort(counts, std::greater(), &std::pair<std::string, std::size_t>::second);
  Figure f{Origin::measured, 100.0 * static_cast<double>(held) / static_cast<double>(known), method, ""};
  for (const auto& [reason, count] : counts) {
    f.method += fmt::format("{} {} in {}", &reason == &counts.front().first ? ":" : ",", reason, count);
    f.limiter += (f.limiter.empty() ? "" : ", ") + reason;
  }
  return f;
}

// Clocks, temperature and power while it was timed.
void sensor_figures(Measurement& m, const GpuTimes& times) {
  m.figures.resize(metric_table().size());
  const auto put = [&](std::string_view metric, double value, std::string method) {
    if (const auto at = find_metric(metric)) m.figures[*at] = {Origin::measured, value, std::move(method), ""};
  };
  if (times.readings.empty()) {
    for (const char* metric : {"sm_clock_mhz", "sm_clock_spread_pct", "gpu_temperature_c", "memory_clock_mhz",
                               "power_w", "power_limit_w", "held_down_pct"}) {
      if (const auto at = find_metric(metric)) m.figures[*at] = {Origin::not_available, 0, "", times.no_readings};
    }
    return;
  }
  std::vector<double> clocks;
  double hottest = 0;
  for (const SensorReading& r : times.readings) {
    clocks.push_back(r.sm_clock_mhz);
    hottest = std::max(hottest, r.temperature_c);
  }
  std::ranges::sort(clocks);
  const std::string method = fmt::format("NVML, {} readings while it was timed", clocks.size());
  put("sm_clock_mhz", quantile(clocks, 0.5), method);
  if (clocks.back() > 0) put("sm_clock_spread_pct", 100 * (clocks.back() - clocks.front()) / clocks.back(), method);
  put("gpu_temperature_c", hottest, method);
  const auto set = [&](std::string_view metric, Figure f) {
    if (const auto at = find_metric(metric)) m.figures[*at] = std::move(f);
  };
  set("memory_clock_mhz", middle_of<&SensorReading::memory_clock_mhz>(times.readings, method));
  set("power_w", middle_of<&SensorReading::power_w>(times.readings, method));
  set("power_limit_w", middle_of<&SensorReading::power_limit_w>(times.readings, method));
  set("held_down_pct", held_down(times.readings, method));
}

// From the first launch's start to the last one's end, beside the time in which they ran.
void span_figure(Measurement& m, const GpuTimes& times) {
  const auto at = find_metric("launch_span_us");
  if (!at) return;
  Figure& f = m.figures.at(*at);
  if (times.span_us)
    f = {Origin::measured, *times.span_us,
         fmt::format("{}, {} caches, {} repeats", times.clock, name_of(m.key.l2), times.samples_us.size()), ""};
  else
    f = {Origin::not_available, 0, "",
         fmt::format("{} cannot separate launches, but CUPTI's timestamps can", times.clock)};
}

Result<void> PointOnGpu::time(gpu::DeviceRun& run) {
  say(fmt::format("{}{}", kTiming, p_.kernel));
  GpuClocks clocks;
  clocks.stages = &stages_;
  clocks.driver = &driver_;
  clocks.stream = tools_.queue->stream();
  clocks.peaks = tools_.peaks;
  clocks.profiler = tools_.profiler;
  clocks.no_profiler = tools_.no_profiler;
  clocks.sensors = tools_.sensors;
  clocks.no_sensors = tools_.no_sensors;
  auto times = time_on_gpu(run, p_, clocks);
  if (!times) return tl::unexpected(times.error());
  sensor_figures(m_, *times);
  span_figure(m_, *times);
  m_.clock = std::move(times->clock);
  m_.samples_us = std::move(times->samples_us);
  m_.launch_us = std::move(times->launch_us);
  m_.time = statistics_of(m_.samples_us);
  m_.time.drifted |= clock_drifted(times->readings);
  return ok();
}

// A refusal is a reason in the figures; the row stays done. A lost GPU is the row's end.
Result<void> PointOnGpu::count(gpu::DeviceRun& run) {
  if (tools_.profiler == nullptr) {
    put_no_counts(m_, tools_.no_profiler);
    return ok();
  }
  stages_.enter("counters");
  say("counting what " + p_.kernel + " does");
  const auto wait = [&](const Result<void>& launched) {
    return launched ? driver_.synchronize(tools_.queue->stream()) : launched;
  };
  const auto prepare = [&] { return wait(prepare_l2(run, p_.l2, *tools_.peaks)); };
  const auto once = [&] { return wait(run.launch()); };
  const std::vector<CounterNames> wanted = table_counters();
  const auto counts = tools_.profiler->count(wanted, prepare, once);
  if (counts) {
    put_counts(m_, *counts, tools_.profiler->version());
    return ok();
  }
  put_no_counts(m_, counts.error().message);
  if (driver_.lost()) return tl::unexpected(run.on(counts.error()));
  return ok();
}

}  // namespace

bool says_it_ran(std::string_view progress) {
  return progress.starts_with(kChecking) || progress.starts_with(kTiming);
}

Measurement measure_on_gpu(const Point& p, GpuTools& tools) {
  Measurement m = empty_row(p, Processor::gpu);
  m.key.device = tools.properties.name;
  m.key.device_uuid = tools.properties.uuid;
  m.clock = "CUDA events";
  Stages stages(m);
  try {
    if (auto taken = PointOnGpu(p, tools, m, stages).take(); !taken) give_up(m, taken.error());
  } catch (const std::bad_alloc&) {
    give_up(m, {ErrorKind::cannot_run, "The worker ran out of memory; use a smaller L, B or H."});
  } catch (const std::exception& bug) {
    give_up(m, {ErrorKind::failed, fmt::format("The worker failed: {}. This is a bug in AttnScope.", bug.what())});
  }
  stages.end();
  fill_figures(m);
  return m;
}

}  // namespace attn
