#include "profiling/cupti/pm_sampling.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/clock.h"

namespace attn::cupti {
namespace {

constexpr int kMaxRounds = 400, kDryRounds = 2;  // of decoding; a dry one found nothing new
// The hardware takes some 12 KB a sample on an H100, the image 35 to 98 KB.
constexpr std::size_t kHardwareBytes = 16 << 10;
constexpr std::size_t kLeastBuffer = std::size_t{32} << 20, kMostBuffer = std::size_t{512} << 20;
constexpr std::size_t kMostImage = std::size_t{1} << 30;

}  // namespace

bool triggers_by_time(const std::string& chip) {
  return !chip.starts_with("TU") && chip != "GA100";
}

// A host takes metrics and gives none back: each trial is a host of its own (some 4 ms).
Result<OnePass> choose_one_pass(const std::shared_ptr<const Cupti>& cupti, const std::string& chip,
                                const std::vector<std::uint8_t>& availability, std::span<const CounterNames> what) {
  OnePass chosen;
  std::vector<std::string> taken;
  for (const CounterNames names : what) {
    std::string& of_this = chosen.names.emplace_back();
    for (const std::string_view name : names) {
      auto host = MetricHost::make(cupti, chip, availability, CUPTI_PROFILER_TYPE_PM_SAMPLING);
      if (!host) return tl::unexpected(host.error());
      std::vector<std::string> tried = taken;
      tried.emplace_back(name);
      if (!host->has(name) || !host->choose(tried) || host->passes() != 1) continue;
      of_this = name;
      taken = std::move(tried);
      chosen.host = std::make_unique<MetricHost>(std::move(*host));
      break;
    }
  }
  if (taken.empty())
    return fail(ErrorKind::cannot_run, fmt::format("{} cannot sample any of these counters over time", chip));
  return chosen;
}

Result<void> PmSampler::query_chip() {
  if (!chip_.empty()) return ok();
  const Calls& call = cupti_->call();
  auto begin = sized<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  auto good = cupti_->check(call.initialize(&begin), "cuptiProfilerInitialize");
  if (!good) return good;
  auto name = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  name.deviceIndex = static_cast<std::size_t>(device_);
  good = cupti_->check(call.chip_name(&name), "cuptiDeviceGetChipName");
  if (!good) return good;
  auto p =
      sized<CUpti_PmSampling_GetCounterAvailability_Params>(CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE);
  p.deviceIndex = static_cast<std::size_t>(device_);
  good = cupti_->check(call.pm_availability(&p), "cuptiPmSamplingGetCounterAvailability");
  if (!good) return good;
  availability_.resize(p.counterAvailabilityImageSize);
  p.pCounterAvailabilityImage = availability_.data();
  good = cupti_->check(call.pm_availability(&p), "cuptiPmSamplingGetCounterAvailability");
  if (!good) return good;
  chip_ = name.pChipName;
  return ok();
}

// The same set as before keeps its host.
Result<void> PmSampler::choose(std::span<const CounterNames> what) {
  std::vector<std::vector<std::string>> asked;
  for (const CounterNames names : what) asked.emplace_back(names.begin(), names.end());
  if (one_pass_.host != nullptr && asked == asked_) return ok();
  auto chosen = choose_one_pass(cupti_, chip_, availability_, what);
  if (!chosen) return tl::unexpected(chosen.error());
  one_pass_ = std::move(*chosen);
  asked_ = std::move(asked);
  return ok();
}

Result<void> PmSampler::enable() {
  auto p = sized<CUpti_PmSampling_Enable_Params>(CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
  p.deviceIndex = static_cast<std::size_t>(device_);
  auto good = cupti_->check(cupti_->call().pm_enable(&p), "cuptiPmSamplingEnable");
  if (good) session_ = p.pPmSamplingObject;
  return good;
}

Result<void> PmSampler::disable() {
  auto p = sized<CUpti_PmSampling_Disable_Params>(CUpti_PmSampling_Disable_Params_STRUCT_SIZE);
  p.pPmSamplingObject = std::exchange(session_, nullptr);
  return cupti_->check(cupti_->call().pm_disable(&p), "cuptiPmSamplingDisable");
}

Result<void> PmSampler::clear_image() {
  auto p = sized<CUpti_PmSampling_CounterDataImage_Initialize_Params>(
      CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  p.pPmSamplingObject = session_;
  p.counterDataSize = image_.size();
  p.pCounterData = image_.data();
  return cupti_->check(cupti_->call().pm_image(&p), "cuptiPmSamplingCounterDataImageInitialize");
}

// A full image loses samples silently: it holds all that are expected.
Result<void> PmSampler::configure(const BeatSpec& spec) {
  const std::vector<std::uint8_t>& chosen = one_pass_.host->config();
  auto config = sized<CUpti_PmSampling_SetConfig_Params>(CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
  config.pPmSamplingObject = session_;
  config.configSize = chosen.size();
  config.pConfig = chosen.data();
  config.hardwareBufferSize = std::clamp(spec.most_samples * kHardwareBytes, kLeastBuffer, kMostBuffer);
  config.samplingInterval = static_cast<std::uint64_t>(spec.interval);
  config.triggerMode = triggers_by_time(chip_) ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL
                                               : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
  config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  auto good = cupti_->check(cupti_->call().pm_configure(&config), "cuptiPmSamplingSetConfig");
  if (!good) return good;
  std::vector<const char*> names = one_pass_.host->names();
  const auto size_of = [&](std::size_t samples) -> Result<std::size_t> {
    auto p = sized<CUpti_PmSampling_GetCounterDataSize_Params>(CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE);
    p.pPmSamplingObject = session_;
    p.pMetricNames = names.data();
    p.numMetrics = names.size();
    p.maxSamples = static_cast<std::uint32_t>(samples);
    auto sized_up = cupti_->check(cupti_->call().pm_image_size(&p), "cuptiPmSamplingGetCounterDataSize");
    if (!sized_up) return tl::unexpected(sized_up.error());
    return p.counterDataSize;
  };
  std::size_t samples = std::max<std::size_t>(1, spec.most_samples);
  auto bytes = size_of(samples);
  if (bytes && *bytes > kMostImage) {
    samples = std::max<std::size_t>(1, samples * (kMostImage / 1024) / (*bytes / 1024));
    bytes = size_of(samples);
  }
  if (!bytes) return tl::unexpected(bytes.error());
  image_.assign(*bytes, 0);
  return clear_image();
}

// The session's own work and the preparation lie before the run's first kernel, and are cut off by its time stamp.
Result<void> PmSampler::watch(KernelTimes& times, const std::function<Result<void>()>& prepare,
                              const std::function<Result<void>()>& run, Beats& beats) {
  const Calls& call = cupti_->call();
  auto start = sized<CUpti_PmSampling_Start_Params>(CUpti_PmSampling_Start_Params_STRUCT_SIZE);
  start.pPmSamplingObject = session_;
  auto good = cupti_->check(call.pm_start(&start), "cuptiPmSamplingStart");
  if (!good) return good;
  good = prepare();
  if (good) {
    const auto before = times.take();
    good = before ? run() : Result<void>(tl::unexpected(before.error()));
  }
  auto stop = sized<CUpti_PmSampling_Stop_Params>(CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
  stop.pPmSamplingObject = session_;
  auto stopped = cupti_->check(call.pm_stop(&stop), "cuptiPmSamplingStop");
  if (good) good = stopped;
  if (!good) return good;
  auto kernels = times.take();
  if (!kernels) return tl::unexpected(kernels.error());
  beats.kernels = std::move(*kernels);
  if (beats.kernels.empty()) return fail(ErrorKind::failed, "CUPTI returned no timestamp for the sampled kernel");
  return ok();
}

// Those of the run, and one at either side of it. The first of a session spans what was before it, and is left out.
Result<std::size_t> PmSampler::read(std::size_t completed, Beats& beats) {
  const std::uint64_t begin = beats.kernels.front().start_ns, end = beats.kernels.back().end_ns;
  std::size_t fresh = 0;
  for (std::size_t n = 0; n < completed; ++n) {
    auto p = sized<CUpti_PmSampling_CounterData_GetSampleInfo_Params>(
        CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE);
    p.pPmSamplingObject = session_;
    p.pCounterDataImage = image_.data();
    p.counterDataImageSize = image_.size();
    p.sampleIndex = n;
    auto good = cupti_->check(cupti_->call().pm_sample(&p), "cuptiPmSamplingCounterDataGetSampleInfo");
    if (!good) return tl::unexpected(good.error());
    if (p.endTimestamp <= read_until_ns_) continue;
    const bool first = std::exchange(read_until_ns_, p.endTimestamp) == 0;
    ++fresh;
    const std::uint64_t length = p.endTimestamp - std::min(p.startTimestamp, p.endTimestamp);
    if (first || length == 0 || p.endTimestamp + length < begin || p.startTimestamp > end + length) continue;
    auto values = one_pass_.host->evaluate(image_, n);
    if (!values) return tl::unexpected(values.error());
    beats.samples.push_back({p.startTimestamp, p.endTimestamp, std::move(*values)});
  }
  return fresh;
}

Result<void> PmSampler::decode(Beats& beats) {
  const Calls& call = cupti_->call();
  read_until_ns_ = 0;
  for (int round = 0, dry = 0; round < kMaxRounds && dry < kDryRounds; ++round) {
    auto p = sized<CUpti_PmSampling_DecodeData_Params>(CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
    p.pPmSamplingObject = session_;
    p.pCounterDataImage = image_.data();
    p.counterDataImageSize = image_.size();
    auto good = cupti_->check(call.pm_decode(&p), "cuptiPmSamplingDecodeData");
    beats.overflow = beats.overflow || p.overflow != 0;
    if (!good && beats.overflow) return ok();
    if (!good) return good;
    auto info =
        sized<CUpti_PmSampling_GetCounterDataInfo_Params>(CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE);
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    good = cupti_->check(call.pm_image_info(&info), "cuptiPmSamplingGetCounterDataInfo");
    if (!good) return good;
    const auto fresh = read(info.numCompletedSamples, beats);
    if (!fresh) return tl::unexpected(fresh.error());
    dry = *fresh > 0 ? 0 : dry + 1;
    if (info.numCompletedSamples > 0)
      if (good = clear_image(); !good) return good;
  }
  return ok();
}

Result<Beats> PmSampler::sample(const BeatSpec& spec, KernelTimes& times, const std::function<Result<void>()>& prepare,
                                const std::function<Result<void>()>& run) {
  const double begin = steady_seconds();
  Beats beats;
  auto good = query_chip();
  if (good) good = choose(spec.what);
  if (good) good = enable();
  if (!good) return tl::unexpected(good.error());
  good = configure(spec);
  if (good) good = watch(times, prepare, run, beats);
  if (good) good = decode(beats);
  auto disabled = disable();
  if (good) good = disabled;
  image_ = {};
  if (!good) return tl::unexpected(good.error());
  beats.names = one_pass_.names;
  beats.chip = chip_;
  beats.in_cycles = !triggers_by_time(chip_);
  beats.seconds = steady_seconds() - begin;
  return beats;
}

}  // namespace attn::cupti
