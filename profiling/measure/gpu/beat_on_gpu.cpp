#include "profiling/measure/gpu/beat_on_gpu.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/base/clock.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/launch/device_run.h"
#include "profiling/cupti/profiler.h"
#include "profiling/measure/gpu/gpu_timing.h"
#include "profiling/measure/gpu/one_run.h"

namespace attn {
namespace {

constexpr double kWanted = 2000, kMost = 6000;  // samples of a run
constexpr double kLeastNs = 1000, kSlowNs = 20000, kStepNs = 100;
constexpr std::int32_t kTries = 3;
constexpr std::int64_t kTickNs = 64;  // two ticks of the GPU's timer: what neighbours' time stamps may differ by
// The flush before the run, what the host takes between its calls, and the session's end: some milliseconds.
constexpr double kAroundNs = 4e6;

std::size_t room_for(double us, double interval_ns) {
  return static_cast<std::size_t>(std::ceil((1.25 * us * 1000 + kAroundNs) / interval_ns));
}

std::vector<CounterNames> beat_counters() {
  std::vector<CounterNames> names;
  for (const BeatRow& row : beat_table()) names.push_back(row.names);
  return names;
}

// Of each counter its values, or why it has none.
void put_counters(const Beats& beats, Heartbeat& h) {
  std::size_t read = 0;
  for (std::size_t n = 0; n < beats.names.size(); ++n) {
    const BeatRow& row = beat_table()[n];
    BeatCounter& c = h.counters.emplace_back();
    c.id = row.id;
    c.metric = beats.names[n];
    if (c.metric.empty()) {
      c.why_not = fmt::format("{} cannot read this counter in the same pass as the other counters", beats.chip);
      continue;
    }
    for (const BeatSample& s : beats.samples) {
      const double value = s.values.at(read) * row.scale;
      if (!std::isfinite(value) || value < 0) c.why_not = "CUPTI returned an invalid value";
      c.values.push_back(three_digits(value));
    }
    if (!c.why_not.empty()) c.values.clear();
    ++read;
  }
}

class BeatPoint {
 public:
  BeatPoint(const Point& p, GpuTools& tools) : p_(p), tools_(tools), driver_(tools.queue->driver()) {}

  Result<Heartbeat> take() {
    const double begin = steady_seconds();
    if (tools_.profiler == nullptr) return fail(ErrorKind::cannot_run, tools_.no_profiler);
    auto plan = plan_on_gpu(p_, tools_);
    if (!plan) return tl::unexpected(plan.error());
    say("making the inputs");
    const auto inputs = tools_.problem->inputs(p_);
    if (!inputs) return tl::unexpected(inputs.error());
    auto run = gpu::DeviceRun::place(*tools_.queue, *plan, tensor_bytes_of(**inputs));
    if (!run) return tl::unexpected(run.error());
    say("compiling and warming up " + p_.kernel);
    if (auto warm = run->once(); !warm) return tl::unexpected(run->on(warm.error()));
    const auto us = time_one_run(*run, *tools_.queue);
    if (!us) return tl::unexpected(run->on(us.error()));
    auto beat = beat_until_whole(*run, *us);
    if (!beat) return tl::unexpected(run->on(beat.error()));
    beat->kernel_us = *us;
    beat->seconds = steady_seconds() - begin;
    return beat;
  }

 private:
  void say(const std::string& now) const {
    if (tools_.progress) tools_.progress(now);
  }

  Result<Heartbeat> beat_until_whole(gpu::DeviceRun& run, double us) {
    BeatPlan plan = beat_plan(us, p_.l2);
    for (std::int32_t attempt = 1;; ++attempt, plan = slower(plan)) {
      say(fmt::format("reading the heartbeat of {}, every {:.1f} µs", p_.kernel,
                      static_cast<double>(plan.interval) * 1e-3));
      auto beats = beat_once(run, plan);
      if (!beats) return tl::unexpected(beats.error());
      auto beat = heartbeat_of(*beats);
      if (!beat && attempt < kTries) continue;
      if (!beat) {
        beat.error().message += fmt::format(", in {} runs, finally every {} ns", attempt, plan.interval);
        return beat;
      }
      beat->method = tools_.profiler->version() + ", PM sampling";
      beat->interval = plan.interval;
      beat->tries = attempt;
      return beat;
    }
  }

  Result<Beats> beat_once(gpu::DeviceRun& run, const BeatPlan& plan) {
    const std::vector<CounterNames> what = beat_counters();
    const auto wait = [&] { return driver_.synchronize(tools_.queue->stream()); };
    const auto prepare = [&]() -> Result<void> {
      auto done = prepare_l2(run, p_.l2, *tools_.peaks);
      return done ? wait() : done;
    };
    const auto once = [&]() -> Result<void> {
      auto done = run.launch();
      return done ? wait() : done;
    };
    return tools_.profiler->beat({what, plan.interval, plan.most_samples}, prepare, once);
  }

  const Point& p_;
  GpuTools& tools_;
  gpu::Driver& driver_;
};

}  // namespace

BeatPlan beat_plan(double us, L2State l2) {
  const double ns = std::max(1.0, us) * 1000;
  const double wanted = std::clamp(ns / kWanted, kLeastNs, kSlowNs);
  const double interval = std::ceil(std::max(wanted, ns / kMost) / kStepNs) * kStepNs;
  return {static_cast<std::int64_t>(interval), room_for(l2 == L2State::warm ? 2 * us : us, interval)};
}

BeatPlan slower(BeatPlan plan) {
  return {2 * plan.interval, plan.most_samples};
}

Result<Heartbeat> heartbeat_of(const Beats& beats) {
  if (beats.overflow) return fail(ErrorKind::failed, "the hardware's sample buffer overflowed");
  if (beats.kernels.empty()) return fail(ErrorKind::failed, "no kernel of the run has a timestamp");
  Heartbeat h;
  h.chip = beats.chip;
  h.in_cycles = beats.in_cycles;
  const auto begin = static_cast<std::int64_t>(beats.kernels.front().start_ns);
  const auto after_ns = [&](std::uint64_t ns) { return static_cast<std::int64_t>(ns) - begin; };
  const auto after_us = [&](std::uint64_t ns) { return static_cast<double>(after_ns(ns)) * 1e-3; };
  for (const KernelTime& k : beats.kernels) h.launches.push_back({k.name, after_us(k.start_ns), after_us(k.end_ns)});
  for (const BeatSample& s : beats.samples) {
    BeatSpan span{after_ns(s.start_ns), after_ns(s.end_ns)};
    const std::int64_t before = h.samples.empty() ? span.start_ns : h.samples.back().end_ns;
    if (before - span.start_ns > kTickNs || span.end_ns <= before)
      return fail(ErrorKind::failed, "samples overlap in time");
    span.start_ns = std::max(span.start_ns, before);
    h.samples.push_back(span);
  }
  if (const std::string lost = what_is_lost(h.samples, h.length_us()); !lost.empty())
    return fail(ErrorKind::failed, "samples were lost: " + lost);
  put_counters(beats, h);
  return h;
}

Result<Heartbeat> beat_on_gpu(const Point& p, GpuTools& tools) {
  return BeatPoint(p, tools).take();
}

}  // namespace attn
