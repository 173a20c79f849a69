// A driver and a profiler that break on purpose, and a worker that has them in place of a GPU's.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "app/worker/client.h"
#include "app/worker/worker.h"
#include "tests/kernels/gpu/device/fake_driver.h"

namespace attn {

// Where and how the double breaks.
struct Fault {
  std::string call;  // "launch", "launch of naive_scores", "synchronize", ...; empty: never
  enum class How { error, sticky, hang, die } how = How::error;
};

// What was launched since somebody looked.
using LaunchLog = std::vector<std::string>;

// Breaks at the call that the fault names; true: the process can do nothing more on a GPU.
inline Result<void> break_at(const std::string& call, const Fault& fault, bool& lost) {
  if (call != fault.call) return ok();
  switch (fault.how) {
    case Fault::How::hang:
      while (true) ::pause();
    case Fault::How::die:
      ::raise(SIGKILL);
      break;
    case Fault::How::sticky:
      lost = true;
      break;
    case Fault::How::error:
      break;
  }
  return fail(ErrorKind::failed, call + " failed: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal address was met)");
}

// Breaks where the fault says. Of its launches it keeps the names.
class BreakingDriver : public FakeDriver {
 public:
  BreakingDriver(Fault fault, std::shared_ptr<LaunchLog> log) : fault_(std::move(fault)), log_(std::move(log)) {}

  Result<void> launch(gpu::Function f, const gpu::LaunchShape& shape, gpu::StreamHandle s,
                      std::span<const void* const> parameters) override {
    const std::string& kernel = *static_cast<const std::string*>(f);
    log_->push_back(kernel);
    if (auto good = FakeDriver::launch(f, shape, s, parameters); !good) return good;
    if (auto good = at("launch of " + kernel); !good) return good;
    return at("launch");
  }
  bool lost() const override { return lost_; }

 protected:
  Result<void> at(const std::string& call) override { return break_at(call, fault_, lost_); }

 private:
  Fault fault_;
  std::shared_ptr<LaunchLog> log_;
  bool lost_ = false;
};

// A record of 1 us for each launch, and made-up counts: the n-th counter reads n + 1.
class BreakingProfiler final : public Profiler {
 public:
  BreakingProfiler(Fault fault, std::shared_ptr<LaunchLog> log) : fault_(std::move(fault)), log_(std::move(log)) {}
  std::string version() const override { return "a profiler"; }
  Result<void> start_times() override {
    log_->clear();
    return break_at("start_times", fault_, lost_);
  }
  Result<std::vector<KernelTime>> take_times() override {
    if (auto good = break_at("take_times", fault_, lost_); !good) return tl::unexpected(good.error());
    std::vector<KernelTime> times;
    for (const std::string& name : std::exchange(*log_, {})) {
      times.push_back({name, now_, now_ + 1000});
      now_ += 2000;
    }
    if (fault_.call == "records" && !times.empty()) times.pop_back();
    return times;
  }
  void stop_times() override {}
  Result<Counts> count(std::span<const CounterNames> what, const std::function<Result<void>()>& prepare,
                       const std::function<Result<void>()>& run) override {
    if (auto good = break_at("count", fault_, lost_); !good) return tl::unexpected(good.error());
    Counts counts;
    counts.chip = "GX999";
    counts.passes = 2;
    for (std::size_t pass = 0; pass < counts.passes; ++pass) {
      if (auto good = prepare(); !good) return tl::unexpected(good.error());
      if (auto good = run(); !good) return tl::unexpected(good.error());
    }
    for (std::size_t n = 0; n < what.size(); ++n) {
      const bool has = fault_.call != "chip" || n > 0;
      counts.values.push_back({has ? std::string(what[n].front()) : "", static_cast<double>(n + 1)});
    }
    return counts;
  }
  Result<void> load_for_samples(const std::function<Result<void>()>& load) override {
    if (auto good = break_at("load_for_samples", fault_, lost_); !good) return good;
    loaded_ = true;
    return load();
  }
  // Three samples at the first instruction of each kernel that a launch runs; none unless it was loaded for them.
  Result<Sampled> sample(const SamplingSpec& spec, const std::function<Result<void>()>& prepare,
                         const std::function<Result<void>()>& run) override {
    if (auto good = break_at("sample", fault_, lost_); !good) return tl::unexpected(good.error());
    Sampled sampled;
    sampled.reasons = {"selected", "wait"};
    for (std::int32_t n = 0; n < spec.launches; ++n) {
      if (auto good = prepare(); !good) return tl::unexpected(good.error());
      log_->clear();
      if (auto good = run(); !good) return tl::unexpected(good.error());
    }
    for (const std::string& name : *log_) {
      if (loaded_) sampled.functions.push_back({name, {{0, gpu::CodePhase::none, {}, {{0, 1, 0}, {1, 2, 1}}}}});
      sampled.samples += loaded_ ? 3 : 0;
    }
    sampled.dropped = fault_.call == "dropped" ? 1 : 0;
    return sampled;
  }
  // At address 16 of each kernel that a launch runs the n-th counter reads 10 (n + 1), at 32 nothing.
  Result<InstructionCounts> count_instructions(const CountSpec& spec,
                                               const std::function<Result<void>()>& run) override {
    if (auto good = break_at("count_instructions", fault_, lost_); !good) return tl::unexpected(good.error());
    log_->clear();
    if (auto good = run(); !good) return tl::unexpected(good.error());
    InstructionCounts counts;
    counts.chip = "GX999";
    std::vector<std::uint64_t> values;
    for (const CounterNames& names : spec.what) {
      const bool has = fault_.call != "no sectors" || counts.names.size() < 4;
      counts.names.emplace_back(has ? names.front() : std::string_view());
      values.push_back(has ? 10 * counts.names.size() : 0);
    }
    for (const std::string& name : *log_)
      counts.functions.push_back({name, {{16, values}, {32, std::vector<std::uint64_t>(values.size())}}});
    return counts;
  }
  // Kernels of 20 us, back to back; a sample every 10 us from 10 us before the first to 10 us after the last. The n-th
  // counter reads n + 1; "beats lost": the second sample is missing; "beats lost once": in the first run alone.
  Result<Beats> beat(const BeatSpec& spec, const std::function<Result<void>()>& prepare,
                     const std::function<Result<void>()>& run) override {
    if (auto good = break_at("beat", fault_, lost_); !good) return tl::unexpected(good.error());
    if (auto good = prepare(); !good) return tl::unexpected(good.error());
    log_->clear();
    if (auto good = run(); !good) return tl::unexpected(good.error());
    Beats beats;
    beats.chip = "GX999";
    beats.overflow = fault_.call == "overflow";
    for (const CounterNames& names : spec.what)
      beats.names.emplace_back(beats.names.size() == 1 ? std::string_view() : names.front());
    std::uint64_t at = 1000000;
    for (const std::string& name : *log_) beats.kernels.push_back({name, at, at += 20000});
    for (std::uint64_t from = 990000; from < at + 10000; from += 10000) {
      BeatSample& s = beats.samples.emplace_back();
      s.start_ns = from;
      s.end_ns = from + 10000;
      for (std::size_t n = 0; n < spec.what.size(); ++n)
        if (n != 1) s.values.push_back(static_cast<double>(n + 1));
    }
    const bool lost =
        fault_.call == "beats lost" || (fault_.call == "beats lost once" && !std::exchange(beaten_, true));
    if (lost) beats.samples.erase(beats.samples.begin() + 1);
    return beats;
  }

 private:
  bool loaded_ = false, beaten_ = false;
  Fault fault_;
  std::shared_ptr<LaunchLog> log_;
  std::uint64_t now_ = 0;
  bool lost_ = false;
};

class FixedSensors final : public GpuSensors {
 public:
  Result<SensorReading> read() override { return SensorReading{1500, 50, 2619, 650, 700, 0x4}; }
};

inline WorkerParts parts_with(const Fault& fault) {
  WorkerParts parts;
  const auto log = std::make_shared<LaunchLog>();
  parts.driver = [fault, log]() -> Result<std::unique_ptr<gpu::Driver>> {
    if (fault.call == "open_driver") return fail(ErrorKind::cannot_run, "there is no driver");
    return std::make_unique<BreakingDriver>(fault, log);
  };
  parts.profiler = [fault, log](std::int32_t, std::int32_t) -> Result<std::unique_ptr<Profiler>> {
    if (fault.call == "open_profiler") return fail(ErrorKind::cannot_run, "libcupti.so.13 was not found");
    return std::make_unique<BreakingProfiler>(fault, log);
  };
  parts.sensors = [](const std::string&) -> Result<std::unique_ptr<GpuSensors>> {
    return std::make_unique<FixedSensors>();
  };
  parts.compiler = []() -> Result<std::unique_ptr<gpu::Compiler>> { return std::make_unique<NoCompiler>(); };
  parts.cache.clear();
  parts.edited_kernels.clear();
  return parts;
}

// Seconds that a double never takes.
inline constexpr double kPlenty = 20;

// A point that takes no time worth the name.
inline Point small_point() {
  Point p;
  p.kernel = "naive";
  p.problem.Lq = p.problem.Lk = 5;
  p.problem.D = p.problem.Dv = 8;
  p.seconds_per_point = 0.01;
  p.verify = false;
  return p;
}

// The first worker breaks as `fault` says, those after it do not.
inline GpuClient::Starter starter_with(Fault fault) {
  return [first = true, fault = std::move(fault)]() mutable {
    const WorkerParts parts = parts_with(first ? fault : Fault{});
    first = false;
    return Child::copy([parts](Socket& socket) { return work(socket, parts); });
  };
}
inline GpuClient client_with(Fault fault) {
  return GpuClient(starter_with(std::move(fault)));
}

}  // namespace attn
