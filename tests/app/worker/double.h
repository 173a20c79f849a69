// A driver and a profiler that break on purpose, and a worker that has them in place of a GPU's.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "app/worker/client.h"

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

// Remembers no numbers: memory is plain memory of the process, launches do nothing.
class BreakingDriver : public gpu::Driver {
 public:
  BreakingDriver(Fault fault, std::shared_ptr<LaunchLog> log) : fault_(std::move(fault)), log_(std::move(log)) {}

  Result<std::int32_t> version() override { return 13000; }
  Result<std::int32_t> device_count() override { return 2; }
  Result<gpu::GpuProperties> properties(std::int32_t index) override {
    gpu::GpuProperties p;
    p.index = index;
    p.name = "a double";
    p.major = 9;
    p.sms = 132;
    p.memory_bytes = 80ULL << 30;
    p.l2_bytes = 1024;
    return p;
  }
  Result<void> open_device(std::int32_t) override { return at("open_device"); }
  Result<std::int32_t> join_context() override { return 0; }
  Result<std::uint64_t> free_memory() override { return std::uint64_t{1} << 26; }
  Result<gpu::DevicePointer> allocate(std::uint64_t bytes) override {
    if (auto good = at("allocate"); !good) return tl::unexpected(good.error());
    return reinterpret_cast<gpu::DevicePointer>(::operator new(bytes + 1));
  }
  void release(gpu::DevicePointer p) override { ::operator delete(reinterpret_cast<void*>(p)); }
  Result<void> fill(gpu::DevicePointer p, std::uint8_t byte, std::uint64_t bytes, gpu::StreamHandle) override {
    if (bytes > 0) std::memset(reinterpret_cast<void*>(p), byte, bytes);
    return at("fill");
  }
  Result<void> upload(gpu::DevicePointer to, const void* from, std::uint64_t bytes, gpu::StreamHandle) override {
    if (bytes > 0) std::memcpy(reinterpret_cast<void*>(to), from, bytes);  // an input that is absent is null
    return at("upload");
  }
  Result<void> download(void* to, gpu::DevicePointer from, std::uint64_t bytes, gpu::StreamHandle) override {
    if (bytes > 0) std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return at("download");
  }
  Result<gpu::Module> load(const std::byte*) override {
    if (auto good = at("load"); !good) return tl::unexpected(good.error());
    return this;
  }
  void unload(gpu::Module) override {}
  Result<gpu::Function> function(gpu::Module, const std::string& entry) override {
    return &names_.emplace(entry, entry).first->second;
  }
  Result<gpu::DevicePointer> variable(gpu::Module, const std::string&) override {
    return reinterpret_cast<gpu::DevicePointer>(&variable_);
  }
  Result<void> allow_shared(gpu::Function, std::uint32_t) override { return at("allow_shared"); }
  Result<gpu::TensorMap> encode(const gpu::TensorTiles& tiles) override {
    if (auto good = validate(tiles); !good) return tl::unexpected(good.error());
    return gpu::TensorMap{{tiles.address}};
  }
  Result<void> launch(gpu::Function f, const gpu::LaunchShape&, gpu::StreamHandle,
                      std::span<const void* const>) override {
    const std::string& kernel = *static_cast<const std::string*>(f);
    log_->push_back(kernel);
    if (auto good = at("launch of " + kernel); !good) return good;
    return at("launch");
  }
  Result<gpu::StreamHandle> create_stream() override { return this; }
  void destroy_stream(gpu::StreamHandle) override {}
  Result<bool> capturing(gpu::StreamHandle) override { return false; }
  Result<void> synchronize(gpu::StreamHandle) override { return at("synchronize"); }
  Result<gpu::Event> create_event() override { return this; }
  void destroy_event(gpu::Event) override {}
  Result<void> record(gpu::Event, gpu::StreamHandle) override { return at("record"); }
  Result<double> elapsed_ms(gpu::Event, gpu::Event) override { return 0.25; }
  bool lost() const override { return lost_; }

 private:
  Result<void> at(const std::string& call) { return break_at(call, fault_, lost_); }
  Fault fault_;
  std::shared_ptr<LaunchLog> log_;
  std::map<std::string, std::string> names_;  // of functions; their addresses are the handles
  gpu::DevicePointer variable_ = 0;           // the one that a module may have
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
  Result<SensorReading> read() override { return SensorReading{1500, 50}; }
};

class NoCompiler final : public gpu::Compiler {
 public:
  std::string version() override { return "none"; }
  Result<gpu::Cubin> compile(const gpu::KernelSource&, const std::vector<std::string>&) override {
    return gpu::Cubin{};
  }
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
inline GpuClient client_with(Fault fault) {
  return GpuClient([first = true, fault = std::move(fault)]() mutable {
    const WorkerParts parts = parts_with(first ? fault : Fault{});
    first = false;
    return Child::copy([parts](Socket& socket) { return work(socket, parts); });
  });
}

}  // namespace attn
