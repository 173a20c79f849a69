#include "profiling/cupti/profiler.h"

#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "profiling/cupti/calls.h"
#include "profiling/cupti/kernel_times.h"
#include "profiling/cupti/pc_sampling.h"
#include "profiling/cupti/pm_sampling.h"
#include "profiling/cupti/range_counter.h"
#include "profiling/cupti/sass_metrics.h"

namespace attn {
namespace {

class CuptiProfiler final : public Profiler {
 public:
  CuptiProfiler(std::shared_ptr<const cupti::Cupti> cupti, std::int32_t device)
      : cupti_(cupti),
        times_(cupti),
        counter_(cupti, device),
        pc_(cupti),
        pm_(cupti, device),
        sass_(std::move(cupti), device) {}

  std::string version() const override { return cupti_->version(); }
  Result<void> start_times() override {
    counter_.close();
    return times_.start();
  }
  Result<std::vector<KernelTime>> take_times() override { return times_.take(); }
  void stop_times() override { times_.stop(); }
  Result<Counts> count(std::span<const CounterNames> what, const std::function<Result<void>()>& prepare,
                       const std::function<Result<void>()>& run) override {
    times_.stop();
    auto counts = counter_.count(what, prepare, run);
    ranged_ = ranged_ || counts.has_value();
    return counts;
  }
  Result<void> load_for_samples(const std::function<Result<void>()>& load) override {
    end_others();
    return pc_.load(load);
  }
  Result<Sampled> sample(const SamplingSpec& spec, const std::function<Result<void>()>& prepare,
                         const std::function<Result<void>()>& run) override {
    end_others();
    return pc_.sample(spec, prepare, run);
  }
  // Instructions counted before the process's first range session would leave all others without a record.
  Result<InstructionCounts> count_instructions(const CountSpec& spec,
                                               const std::function<Result<void>()>& run) override {
    if (!ranged_) {
      static constexpr std::array<std::string_view, 1> kAny{"gpu__time_duration.sum"};
      const std::array<CounterNames, 1> any{kAny};
      if (auto first = count(
              any, [] { return ok(); }, run);
          !first)
        return tl::unexpected(first.error());
    }
    end_others();
    return sass_.count(spec, run);
  }
  // Time stamps may be on beside it, and say when the run's kernels began.
  Result<Beats> beat(const BeatSpec& spec, const std::function<Result<void>()>& prepare,
                     const std::function<Result<void>()>& run) override {
    end_others();
    if (auto good = times_.start(); !good) return tl::unexpected(good.error());
    auto beats = pm_.sample(spec, times_, prepare, run);
    times_.stop();
    return beats;
  }

 private:
  void end_others() {
    times_.stop();
    counter_.close();
  }
  std::shared_ptr<const cupti::Cupti> cupti_;
  cupti::KernelTimes times_;
  cupti::RangeCounter counter_;
  cupti::PcSampler pc_;
  cupti::PmSampler pm_;
  cupti::SassCounter sass_;
  bool ranged_ = false;  // a range session has counted in this process
};

// CUPTI and driver must be of one major version of CUDA.
Result<std::shared_ptr<const cupti::Cupti>> open_fitting(std::int32_t driver) {
  auto cupti = cupti::Cupti::open();
  if (!cupti) return cupti;
  constexpr std::int32_t kNeeded = CUPTI_API_VERSION < 10000 ? 12 : CUPTI_API_VERSION / 10000;
  if (driver > 0 && driver / 1000 < kNeeded) {
    return fail(
        ErrorKind::cannot_run,
        fmt::format("{} needs a driver for CUDA {}, but this driver is for CUDA {}.{}: install driver 580 or newer",
                    (*cupti)->version(), kNeeded, driver / 1000, driver % 1000 / 10));
  }
  return cupti;
}

}  // namespace

Result<std::unique_ptr<Profiler>> open_profiler(std::int32_t device, std::int32_t driver) {
  auto cupti = open_fitting(driver);
  if (!cupti) return tl::unexpected(cupti.error());
  return std::make_unique<CuptiProfiler>(std::move(*cupti), device);
}

Result<std::string> cupti_version(std::int32_t driver) {
  const auto cupti = open_fitting(driver);
  if (!cupti) return tl::unexpected(cupti.error());
  return (*cupti)->version();
}

Result<void> counters_permitted(const std::string& root) {
  std::ifstream params(root + "proc/driver/nvidia/params");
  bool restricted = false;
  for (std::string line; std::getline(params, line);) restricted = restricted || line == "RmProfilingAdminOnly: 1";
  if (!restricted) return ok();
  // CAP_SYS_ADMIN is bit 21 of the process's effective capabilities; CAP_PERFMON, bit 38, is enough for newer drivers.
  std::ifstream status(root + "proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("CapEff:")) continue;
    const unsigned long long held = std::strtoull(line.c_str() + std::string_view("CapEff:").size(), nullptr, 16);
    if ((held >> 21 & 1) != 0 || (held >> 38 & 1) != 0) return ok();
  }
  return fail(ErrorKind::cannot_run,
              "the driver lets only administrators read counters; ask an administrator to set the kernel module option "
              "NVreg_RestrictProfilingToAdminUsers=0 or to run the program");
}

}  // namespace attn
