#include "profiling/measure/gpu/sample_on_gpu.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/clock.h"
#include "kernels/base/text.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/launch/device_run.h"
#include "kernels/gpu/rungs/own_kernel.h"
#include "kernels/gpu/rungs/specialise.h"
#include "profiling/measure/gpu/gpu_timing.h"
#include "profiling/measure/gpu/one_run.h"

namespace attn {
namespace {

// 2^11 cycles gave 210 thousand samples of 1.8 ms on an H100 and dropped none; below 2^7 it drops.
constexpr double kWanted = 200000;
constexpr std::int32_t kMinPeriod = 8, kMaxPeriod = 24, kMaxLaunches = 256;
constexpr int kTries = 4;

class SamplePoint {
 public:
  SamplePoint(const Point& p, GpuTools& tools) : p_(p), tools_(tools), driver_(tools.queue->driver()) {}

  Result<KernelSamples> take() {
    const double begin = steady_seconds();
    if (tools_.profiler == nullptr) return fail(ErrorKind::cannot_run, tools_.no_profiler);
    auto plan = plan_on_gpu(p_, tools_);
    if (!plan) return tl::unexpected(plan.error());
    plan_ = std::move(*plan);
    say("making the inputs");
    const auto inputs = tools_.problem->inputs(p_);
    if (!inputs) return tl::unexpected(inputs.error());
    gpu::Queue& queue = *tools_.sampling_queue;
    auto run = gpu::DeviceRun::place(queue, plan_, tensor_bytes_of(**inputs));
    if (!run) return tl::unexpected(run.error());
    say("compiling and loading " + p_.kernel);
    if (auto loaded = tools_.profiler->load_for_samples([&] { return run->once(); }); !loaded)
      return tl::unexpected(run->on(loaded.error()));
    auto us = time_one_run(*run, queue);
    if (!us) return tl::unexpected(run->on(us.error()));
    auto samples = sample(*run, queue, *us);
    if (!samples) return tl::unexpected(run->on(samples.error()));
    samples->kernel_us = *us;
    samples->seconds = steady_seconds() - begin;
    return samples;
  }

 private:
  void say(const std::string& now) const {
    if (tools_.progress) tools_.progress(now);
  }
  Result<KernelSamples> sample(gpu::DeviceRun& run, gpu::Queue& queue, double us);

  const Point& p_;
  GpuTools& tools_;
  gpu::Driver& driver_;
  Plan plan_;
};

// The L2 cache is brought into the point's state on the worker's stream, on which the yardsticks live.
Result<KernelSamples> SamplePoint::sample(gpu::DeviceRun& run, gpu::Queue& queue, double us) {
  const auto loaded = queue.load(plan_.kernel->id, gpu::defines_of(plan_, gpu::may_be_aligned(plan_.problem)),
                                 gpu::own_source(*plan_.kernel));
  if (!loaded) return tl::unexpected(loaded.error());
  const auto prepare = [&]() -> Result<void> {
    auto done = prepare_l2(run, p_.l2, *tools_.peaks);
    if (done) done = driver_.synchronize(tools_.queue->stream());
    if (done) done = driver_.synchronize(queue.stream());
    return done;
  };
  const auto once = [&]() -> Result<void> {
    auto done = run.launch();
    if (done) done = driver_.synchronize(queue.stream());
    return done;
  };
  SamplingPlan plan = sampling_plan(us, tools_.properties.clock_khz, tools_.properties.sms);
  for (int attempt = 1;; ++attempt) {
    say(phrase("sampling {}: {}, every 2^{} cycles", p_.kernel, plural(plan.launches, "{} time", "{} times"),
               plan.period_log2));
    auto sampled = tools_.profiler->sample({plan.period_log2, plan.launches, (*loaded)->compiled.code}, prepare, once);
    if (!sampled) return tl::unexpected(sampled.error());
    const SamplingPlan next = next_plan(plan, sampled->samples, sampled->dropped);
    if (next == plan || attempt == kTries) {
      if (sampled->samples == 0)
        return fail(ErrorKind::failed,
                    fmt::format("the GPU returned no samples of the kernel ({} of other code)", sampled->unattributed));
      KernelSamples s;
      s.method = tools_.profiler->version() + ", PC sampling";
      s.arch = tools_.properties.arch();
      s.period_log2 = plan.period_log2;
      s.launches = plan.launches;
      s.dropped = sampled->dropped;
      s.unattributed = sampled->unattributed;
      s.no_lines = "the samples were not matched with the machine code";
      s.reasons = std::move(sampled->reasons);
      s.functions = std::move(sampled->functions);
      return s;
    }
    plan = next;
  }
}

}  // namespace

SamplingPlan sampling_plan(double us, double clock_khz, std::int32_t sms) {
  const double cycles = std::max(1.0, us * clock_khz / 1000) * std::max(1, sms);  // of all multiprocessors
  SamplingPlan plan;
  const auto period = static_cast<std::int32_t>(std::floor(std::log2(std::max(1.0, cycles / kWanted))));
  plan.period_log2 = std::clamp(period, kMinPeriod, kMaxPeriod);
  // A quarter more than enough: not every look finds a warp.
  const double expected = cycles / std::exp2(plan.period_log2);
  plan.launches = static_cast<std::int32_t>(
      std::clamp(std::ceil(1.25 * kEnoughSamples / expected), 1.0, static_cast<double>(kMaxLaunches)));
  return plan;
}

SamplingPlan next_plan(SamplingPlan now, std::uint64_t samples, std::uint64_t dropped) {
  if (dropped > 0 && now.period_log2 < kMaxPeriod) {
    now.period_log2 += 1;
    return now;
  }
  if (samples == 0 || samples >= kEnoughSamples) return now;
  const double times = 1.25 * static_cast<double>(kEnoughSamples) / static_cast<double>(samples);
  now.launches =
      static_cast<std::int32_t>(std::min(std::ceil(times * now.launches), static_cast<double>(kMaxLaunches)));
  return now;
}

Result<KernelSamples> sample_on_gpu(const Point& p, GpuTools& tools) {
  return SamplePoint(p, tools).take();
}

}  // namespace attn
