#include "profiling/measure/gpu/gpu_timing.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "kernels/base/clock.h"
#include "profiling/figures/intervals.h"
#include "profiling/figures/statistics.h"
#include "profiling/measure/repeat.h"

namespace attn {
namespace {

constexpr double kWarmUpSeconds = 0.1;
constexpr std::size_t kMaxInBatch = 16;
constexpr double kBatchSeconds = 0.05;  // what a batch may take before anyone looks at its times
constexpr std::size_t kMaxClockText = 250;

// One kernel's repeats. How a batch of them is timed is the derived class's.
class Repeats {
 public:
  Repeats(gpu::DeviceRun& run, const MeasureSpec& spec, const GpuClocks& clocks)
      : run_(run), spec_(spec), clocks_(clocks) {}
  virtual ~Repeats() = default;
  Repeats(const Repeats&) = delete;
  Repeats& operator=(const Repeats&) = delete;

  Result<std::vector<double>> take() {
    std::vector<double> samples;
    enter("warm up");
    auto done = warm_up();
    enter("time");
    StopRule rule(MinRepeats{spec_.min_repeats}, Settled{}, TimeLimit{spec_.seconds_per_point});
    const double begin = steady_seconds();
    while (done && !rule.stop({samples, steady_seconds() - begin})) {
      const auto times = batch(batch_size(samples));
      if (!times) return tl::unexpected(times.error());
      samples.insert(samples.end(), times->busy.begin(), times->busy.end());
      spans_.insert(spans_.end(), times->spans.begin(), times->spans.end());
      launches_.resize(times->launches.size());
      for (std::size_t n = 0; n < launches_.size(); ++n)
        launches_[n].insert(launches_[n].end(), times->launches[n].begin(), times->launches[n].end());
    }
    if (!done) return tl::unexpected(done.error());
    return samples;
  }
  std::vector<double> launch_medians() const {
    std::vector<double> medians;
    for (std::vector<double> times : launches_) {
      std::ranges::sort(times);
      medians.push_back(quantile(times, 0.5));
    }
    return medians;
  }
  std::optional<double> span_median() const {
    if (spans_.empty()) return std::nullopt;
    std::vector<double> spans = spans_;
    std::ranges::sort(spans);
    return quantile(spans, 0.5);
  }
  const std::vector<SensorReading>& readings() const { return readings_; }
  const std::string& no_readings() const { return no_readings_; }

 protected:
  virtual Result<RepeatTimes> batch(std::size_t repeats) = 0;

  gpu::Driver& driver() { return *clocks_.driver; }
  // L2 state and launches of one repeat.
  Result<void> prepare() { return spec_.l2 == L2State::cold ? clocks_.peaks->flush() : ok(); }
  // While the GPU is at work: an idle one lowers its clock.
  void read_sensors() {
    if (clocks_.sensors == nullptr || !no_readings_.empty()) return;
    const auto reading = clocks_.sensors->read();
    if (reading)
      readings_.push_back(*reading);
    else
      no_readings_ = reading.error().message;
  }

  gpu::DeviceRun& run_;
  const MeasureSpec& spec_;
  const GpuClocks& clocks_;

 private:
  void enter(const char* stage) const {
    if (clocks_.stages != nullptr) clocks_.stages->enter(stage);
  }
  Result<void> warm_up() {
    const double begin = steady_seconds();
    const double seconds = std::min(kWarmUpSeconds, spec_.seconds_per_point / 10);
    do {
      if (auto times = batch(1); !times) return tl::unexpected(times.error());
    } while (steady_seconds() - begin < seconds);
    readings_.clear();
    return ok();
  }
  std::size_t batch_size(std::span<const double> samples) const {
    if (samples.empty()) return 1;
    const double us = std::max(1.0, samples.back());
    return std::clamp(static_cast<std::size_t>(kBatchSeconds * 1e6 / us), std::size_t{1}, kMaxInBatch);
  }
  std::vector<double> spans_;
  std::vector<std::vector<double>> launches_;
  std::vector<SensorReading> readings_;
  std::string no_readings_;
};

class ByTimeStamps final : public Repeats {
 public:
  using Repeats::Repeats;

 protected:
  Result<RepeatTimes> batch(std::size_t repeats) override {
    Result<void> done = ok();
    for (std::size_t n = 0; n < repeats && done; ++n) {
      done = prepare();
      if (done) done = run_.launch();
    }
    read_sensors();
    if (done) done = driver().synchronize(clocks_.stream);
    if (!done) return tl::unexpected(run_.on(done.error()));
    const auto records = clocks_.profiler->take_times();
    if (!records) return tl::unexpected(records.error());
    return repeats_of(*records, run_.plan().launches, repeats);
  }
};

// A pair of events around the launches of a repeat.
class ByEvents final : public Repeats {
 public:
  using Repeats::Repeats;
  ~ByEvents() override {
    for (const gpu::Event e : events_) clocks_.driver->destroy_event(e);
  }
  ByEvents(const ByEvents&) = delete;
  ByEvents& operator=(const ByEvents&) = delete;

  // Milliseconds of one repeat.
  Result<double> once() {
    while (events_.size() < 2) {
      const auto event = driver().create_event();
      if (!event) return tl::unexpected(event.error());
      events_.push_back(*event);
    }
    auto done = prepare();
    if (done) done = driver().record(events_[0], clocks_.stream);
    if (done) done = run_.launch();
    if (done) done = driver().record(events_[1], clocks_.stream);
    if (!done) return tl::unexpected(done.error());
    read_sensors();
    return driver().elapsed_ms(events_[0], events_[1]);
  }

 protected:
  Result<RepeatTimes> batch(std::size_t repeats) override {
    RepeatTimes times;
    for (std::size_t n = 0; n < repeats; ++n) {
      const auto ms = once();
      if (!ms) return tl::unexpected(run_.on(ms.error()));
      times.busy.push_back(*ms * 1000);
    }
    return times;
  }

 private:
  std::vector<gpu::Event> events_;
};

Result<GpuTimes> times_from(Repeats& repeats, std::string clock, const GpuClocks& clocks) {
  auto samples = repeats.take();
  if (!samples) return tl::unexpected(samples.error());
  GpuTimes times;
  times.samples_us = std::move(*samples);
  times.launch_us = repeats.launch_medians();
  times.span_us = repeats.span_median();
  times.clock = std::move(clock);
  times.readings = repeats.readings();
  times.no_readings = clocks.sensors == nullptr ? clocks.no_sensors : repeats.no_readings();
  return times;
}

}  // namespace

Result<std::vector<double>> time_turn(gpu::DeviceRun& run, const Turn& turn, L2State l2, const GpuClocks& clocks) {
  MeasureSpec spec;
  spec.l2 = l2;
  ByEvents events(run, spec, clocks);
  std::vector<double> samples;
  for (std::int32_t n = -turn.warm_up; n < turn.repeats; ++n) {
    if (n >= 0) std::this_thread::sleep_for(std::chrono::microseconds(turn.pause_us));
    for (std::int32_t more = 1; more < turn.flushes && l2 == L2State::cold; ++more)
      if (auto read = clocks.peaks->flush(); !read) return tl::unexpected(run.on(read.error()));
    const auto ms = events.once();
    if (!ms) return tl::unexpected(run.on(ms.error()));
    if (n >= 0) samples.push_back(*ms * 1000);
  }
  return samples;
}

Result<void> prepare_l2(gpu::DeviceRun& run, L2State l2, GpuPeaks& peaks) {
  return l2 == L2State::cold ? peaks.flush() : run.launch();
}

Result<RepeatTimes> repeats_of(std::span<const KernelTime> records, std::span<const Launch> launches,
                               std::size_t repeats) {
  RepeatTimes times;
  times.launches.resize(launches.size());
  std::vector<Interval<std::uint64_t>> ran;  // of this repeat
  for (const KernelTime& k : records) {
    if (k.name == GpuPeaks::kFlushName) continue;
    const Launch& launch = launches[ran.size()];
    if (k.name != launch.name || k.end_ns < k.start_ns) {
      return fail(ErrorKind::failed, fmt::format("the record of {} belongs to {}", launch.name,
                                                 k.name.empty() ? "an unnamed kernel" : k.name));
    }
    times.launches[ran.size()].push_back(static_cast<double>(k.end_ns - k.start_ns) * 1e-3);
    ran.push_back({k.start_ns, k.end_ns});
    if (ran.size() < launches.size()) continue;
    times.busy.push_back(static_cast<double>(union_of(ran)) * 1e-3);
    times.spans.push_back(static_cast<double>(span_of(ran)) * 1e-3);
    ran.clear();
  }
  if (times.busy.size() != repeats || !ran.empty()) {
    return fail(ErrorKind::failed, fmt::format("received {} kernel records for {} repeats of {} launches",
                                               records.size(), repeats, launches.size()));
  }
  return times;
}

Result<GpuTimes> time_on_gpu(gpu::DeviceRun& run, const MeasureSpec& spec, const GpuClocks& clocks) {
  std::string why = clocks.no_profiler;
  if (clocks.profiler != nullptr) {
    if (auto started = clocks.profiler->start_times(); !started) {
      why = started.error().message;
    } else {
      ByTimeStamps repeats(run, spec, clocks);
      auto times = times_from(repeats, "CUPTI kernel time stamps", clocks);
      clocks.profiler->stop_times();
      if (times || clocks.driver->lost()) return times;
      why = times.error().message;
    }
  }
  ByEvents repeats(run, spec, clocks);
  std::string clock = "CUDA events";
  if (!why.empty()) clock += " (" + why + ")";
  if (clock.size() > kMaxClockText) clock = clock.substr(0, kMaxClockText - 4) + "...)";
  return times_from(repeats, std::move(clock), clocks);
}

}  // namespace attn
