#include "profiling/cupti/range_counter.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/base/clock.h"

namespace attn::cupti {
namespace {

constexpr std::size_t kMaxPasses = 64;  // beyond what any set of ours takes: a session that never ends is an error
constexpr const char* kRange = "kernel";

}  // namespace

Result<void> RangeCounter::query_chip() {
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
      sized<CUpti_Profiler_GetCounterAvailability_Params>(CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  good = cupti_->check(call.availability(&p), "cuptiProfilerGetCounterAvailability");
  if (!good) return good;
  availability_.resize(p.counterAvailabilityImageSize);
  p.pCounterAvailabilityImage = availability_.data();
  good = cupti_->check(call.availability(&p), "cuptiProfilerGetCounterAvailability");
  if (!good) return good;
  chip_ = name.pChipName;
  return ok();
}

// The same set as before keeps what is open.
Result<void> RangeCounter::choose(std::span<const CounterNames> what) {
  auto host = MetricHost::make(cupti_, chip_, availability_);
  if (!host) return tl::unexpected(host.error());
  std::vector<std::string> chosen, counted;
  for (const CounterNames names : what) {
    const auto at = std::ranges::find_if(names, [&](std::string_view name) { return host->has(name); });
    chosen.emplace_back(at == names.end() ? std::string_view() : *at);
    if (!chosen.back().empty()) counted.push_back(chosen.back());
  }
  if (counted.empty()) return fail(ErrorKind::cannot_run, fmt::format("{} has none of these counters", chip_));
  if (host_ != nullptr && chosen == chosen_) return ok();
  close();
  if (auto good = host->choose(std::move(counted)); !good) return good;
  chosen_ = std::move(chosen);
  host_ = std::make_unique<MetricHost>(std::move(*host));
  return ok();
}

Result<void> RangeCounter::open() {
  if (session_ != nullptr) return ok();
  const auto context = current_context();
  if (!context) return tl::unexpected(context.error());
  auto p = sized<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  p.ctx = *context;
  auto good = cupti_->check(cupti_->call().enable(&p), "cuptiRangeProfilerEnable");
  if (good) session_ = p.pRangeProfilerObject;
  return good;
}

// One range a pass, ours; a fresh image, so that nothing of the last kernel stays.
Result<void> RangeCounter::configure() {
  const Calls& call = cupti_->call();
  std::vector<const char*> names = host_->names();
  auto size =
      sized<CUpti_RangeProfiler_GetCounterDataSize_Params>(CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pRangeProfilerObject = session_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  auto good = cupti_->check(call.data_size(&size), "cuptiRangeProfilerGetCounterDataSize");
  if (!good) return good;
  image_.assign(size.counterDataSize, 0);
  auto image = sized<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  image.pRangeProfilerObject = session_;
  image.counterDataSize = image_.size();
  image.pCounterData = image_.data();
  good = cupti_->check(call.data_initialize(&image), "cuptiRangeProfilerCounterDataImageInitialize");
  if (!good) return good;
  auto config = sized<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  config.pRangeProfilerObject = session_;
  config.configSize = host_->config().size();
  config.pConfig = host_->config().data();
  config.counterDataImageSize = image_.size();
  config.pCounterDataImage = image_.data();
  config.range = CUPTI_UserRange;
  config.replayMode = CUPTI_UserReplay;
  config.maxRangesPerPass = 1;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 0;
  return cupti_->check(call.set_config(&config), "cuptiRangeProfilerSetConfig");
}

// True when it was the last.
Result<bool> RangeCounter::pass(const std::function<Result<void>()>& prepare,
                                const std::function<Result<void>()>& run) {
  const Calls& call = cupti_->call();
  auto start = sized<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  start.pRangeProfilerObject = session_;
  auto good = cupti_->check(call.start(&start), "cuptiRangeProfilerStart");
  if (!good) return tl::unexpected(good.error());
  // The session's own work is done: what is prepared now is what the range finds.
  good = prepare();
  if (good) {
    auto push = sized<CUpti_RangeProfiler_PushRange_Params>(CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
    push.pRangeProfilerObject = session_;
    push.pRangeName = kRange;
    good = cupti_->check(call.push(&push), "cuptiRangeProfilerPushRange");
  }
  if (good) {
    good = run();
    auto pop = sized<CUpti_RangeProfiler_PopRange_Params>(CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
    pop.pRangeProfilerObject = session_;
    auto popped = cupti_->check(call.pop(&pop), "cuptiRangeProfilerPopRange");
    if (good) good = popped;
  }
  auto stop = sized<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  stop.pRangeProfilerObject = session_;
  auto stopped = cupti_->check(call.stop(&stop), "cuptiRangeProfilerStop");
  if (good) good = stopped;
  if (!good) return tl::unexpected(good.error());
  return stop.isAllPassSubmitted != 0;
}

Result<std::vector<double>> RangeCounter::decode() {
  const Calls& call = cupti_->call();
  auto decode = sized<CUpti_RangeProfiler_DecodeData_Params>(CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  decode.pRangeProfilerObject = session_;
  auto good = cupti_->check(call.decode(&decode), "cuptiRangeProfilerDecodeData");
  if (!good) return tl::unexpected(good.error());
  auto info =
      sized<CUpti_RangeProfiler_GetCounterDataInfo_Params>(CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  good = cupti_->check(call.data_info(&info), "cuptiRangeProfilerGetCounterDataInfo");
  if (!good) return tl::unexpected(good.error());
  if (info.numTotalRanges == 0 || decode.numOfRangeDropped > 0) {
    return fail(ErrorKind::failed, "the range profiler lost the kernel's range");
  }
  return host_->evaluate(image_);
}

Result<Counts> RangeCounter::count(std::span<const CounterNames> what, const std::function<Result<void>()>& prepare,
                                   const std::function<Result<void>()>& run) {
  const double begin = steady_seconds();
  auto good = query_chip();
  if (good) good = choose(what);
  if (good) good = open();
  if (good) good = configure();
  std::size_t passes = 0;
  for (bool all = false; good && !all; ++passes) {
    if (passes == kMaxPasses) {
      good = fail(ErrorKind::failed, "the range profiler never stops requesting passes");
      break;
    }
    const auto last = pass(prepare, run);
    if (last)
      all = *last;
    else
      good = tl::unexpected(last.error());
  }
  const auto values = good ? decode() : Result<std::vector<double>>(tl::unexpected(good.error()));
  if (!values) {
    close();
    return tl::unexpected(values.error());
  }
  Counts counts;
  auto value = values->begin();
  for (const std::string& name : chosen_) counts.values.push_back({name, name.empty() ? 0 : *value++});
  counts.passes = passes;
  counts.chip = chip_;
  counts.seconds = steady_seconds() - begin;
  return counts;
}

void RangeCounter::close() {
  if (session_ == nullptr) return;
  auto p = sized<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  p.pRangeProfilerObject = session_;
  (void)cupti_->call().disable(&p);
  session_ = nullptr;
}

}  // namespace attn::cupti
