#include "profiling/cupti/metric_host.h"

#include <utility>

namespace attn::cupti {

Result<std::vector<std::string>> supported_chips(const Cupti& cupti) {
  auto p =
      sized<CUpti_Profiler_Host_GetSupportedChips_Params>(CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  if (auto good = cupti.check(cupti.call().chips(&p), "cuptiProfilerHostGetSupportedChips"); !good) {
    return tl::unexpected(good.error());
  }
  return std::vector<std::string>(p.ppChipNames, p.ppChipNames + p.numChips);
}

Result<MetricHost> MetricHost::make(std::shared_ptr<const Cupti> cupti, const std::string& chip,
                                    std::vector<std::uint8_t> availability, CUpti_ProfilerType type) {
  MetricHost host(std::move(cupti), std::move(availability));
  auto p = sized<CUpti_Profiler_Host_Initialize_Params>(CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  p.profilerType = type;
  p.pChipName = chip.c_str();
  p.pCounterAvailabilityImage = host.availability_.empty() ? nullptr : host.availability_.data();
  auto good = host.cupti_->check(host.cupti_->call().host_initialize(&p), "cuptiProfilerHostInitialize");
  if (!good) return tl::unexpected(good.error());
  host.host_ = p.pHostObject;
  return host;
}

MetricHost::MetricHost(MetricHost&& other) noexcept
    : cupti_(std::move(other.cupti_)),
      availability_(std::move(other.availability_)),
      host_(std::exchange(other.host_, nullptr)),
      metrics_(std::move(other.metrics_)),
      names_(std::move(other.names_)),
      config_(std::move(other.config_)),
      passes_(other.passes_) {}

MetricHost& MetricHost::operator=(MetricHost&& other) noexcept {
  std::swap(cupti_, other.cupti_);
  std::swap(availability_, other.availability_);
  std::swap(host_, other.host_);
  std::swap(metrics_, other.metrics_);
  std::swap(names_, other.names_);
  std::swap(config_, other.config_);
  std::swap(passes_, other.passes_);
  return *this;
}

MetricHost::~MetricHost() {
  if (host_ == nullptr) return;
  auto p = sized<CUpti_Profiler_Host_Deinitialize_Params>(CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  p.pHostObject = host_;
  cupti_->call().host_deinitialize(&p);
}

bool MetricHost::has(std::string_view metric) const {
  const std::string name(metric);
  auto p =
      sized<CUpti_Profiler_Host_GetMetricProperties_Params>(CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
  p.pHostObject = host_;
  p.pMetricName = name.c_str();
  return cupti_->call().metric_properties(&p) == CUPTI_SUCCESS;
}

Result<void> MetricHost::choose(std::vector<std::string> metrics) {
  metrics_ = std::move(metrics);
  names_.clear();
  for (const std::string& name : metrics_) names_.push_back(name.c_str());
  const Calls& call = cupti_->call();
  auto add =
      sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = host_;
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  auto good = cupti_->check(call.add_metrics(&add), "cuptiProfilerHostConfigAddMetrics");
  if (!good) return good;
  auto size =
      sized<CUpti_Profiler_Host_GetConfigImageSize_Params>(CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = host_;
  good = cupti_->check(call.config_size(&size), "cuptiProfilerHostGetConfigImageSize");
  if (!good) return good;
  config_.resize(size.configImageSize);
  auto image = sized<CUpti_Profiler_Host_GetConfigImage_Params>(CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  image.pHostObject = host_;
  image.pConfigImage = config_.data();
  image.configImageSize = config_.size();
  good = cupti_->check(call.config_image(&image), "cuptiProfilerHostGetConfigImage");
  if (!good) return good;
  auto passes = sized<CUpti_Profiler_Host_GetNumOfPasses_Params>(CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  passes.pConfigImage = config_.data();
  passes.configImageSize = config_.size();
  good = cupti_->check(call.pass_count(&passes), "cuptiProfilerHostGetNumOfPasses");
  passes_ = passes.numOfPasses;
  return good;
}

Result<std::vector<double>> MetricHost::evaluate(std::span<const std::uint8_t> image, std::size_t index) const {
  std::vector<double> values(metrics_.size());
  std::vector<const char*> names = names_;  // CUPTI asks for a pointer to what it may change
  auto p =
      sized<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  p.pHostObject = host_;
  p.pCounterDataImage = image.data();
  p.counterDataImageSize = image.size();
  p.rangeIndex = index;
  p.ppMetricNames = names.data();
  p.numMetrics = names.size();
  p.pMetricValues = values.data();
  auto good = cupti_->check(cupti_->call().evaluate(&p), "cuptiProfilerHostEvaluateToGpuValues");
  if (!good) return tl::unexpected(good.error());
  return values;
}

}  // namespace attn::cupti
