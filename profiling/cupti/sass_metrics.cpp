#include "profiling/cupti/sass_metrics.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/clock.h"

namespace attn::cupti {
namespace {

constexpr std::uint8_t kLazily = 1;  // functions are patched when they are launched: ours alone

// CUPTI's records name a cubin by the lower half of what it calls the same cubin elsewhere.
std::uint32_t short_crc(std::uint64_t crc) {
  return static_cast<std::uint32_t>(crc);
}

}  // namespace

Result<std::uint64_t> sass_metric_id(const Cupti& cupti, const std::string& chip, const std::string& metric) {
  auto p = sized<CUpti_SassMetrics_GetProperties_Params>(CUpti_SassMetrics_GetProperties_Params_STRUCT_SIZE);
  p.pChipName = chip.c_str();
  p.pMetricName = metric.c_str();
  if (auto good = cupti.check(cupti.call().sass_properties(&p), "cuptiSassMetricsGetProperties"); !good)
    return tl::unexpected(good.error());
  return p.metric.metricId;
}

// What CUPTI writes records into. They point to one another, so that they stay where they were made.
struct SassCounter::Records {
  Records() = default;
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  std::vector<CUpti_SassMetrics_Data> data;
  std::vector<CUpti_SassMetrics_InstanceValue> values;
  std::size_t each = 0;  // values of a record

  // The header leaves open whether `instances` counts a metric's values or a record's: there is room for either, and
  // what was not written has the number 0, which is no metric's.
  void make_room(std::size_t records, std::size_t instances, std::size_t metrics) {
    each = instances * metrics;
    data.assign(records, {});
    values.assign(records * each, {});
    for (std::size_t n = 0; n < records; ++n) {
      data[n].structSize = sizeof(CUpti_SassMetrics_Data);
      data[n].pInstanceValues = &values[n * each];
    }
  }
};

// What this chip has of `what` is counted for as long as the process lives.
Result<void> SassCounter::configure(std::span<const CounterNames> what) {
  const auto context = current_context();
  if (!context) return tl::unexpected(context.error());
  context_ = *context;
  if (configured_) return ok();
  const Calls& call = cupti_->call();
  auto begin = sized<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  auto good = cupti_->check(call.initialize(&begin), "cuptiProfilerInitialize");
  if (!good) return good;
  auto name = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  name.deviceIndex = static_cast<std::size_t>(device_);
  good = cupti_->check(call.chip_name(&name), "cuptiDeviceGetChipName");
  if (!good) return good;
  chip_ = name.pChipName;
  chosen_.clear();
  ids_.clear();
  std::vector<CUpti_SassMetrics_Config> configs;
  for (const CounterNames names : what) {
    chosen_.emplace_back();
    ids_.push_back(0);
    for (const std::string_view metric : names) {
      const auto id = sass_metric_id(*cupti_, chip_, std::string(metric));
      if (!id) continue;
      chosen_.back() = metric;
      ids_.back() = *id;
      configs.push_back({*id, CUPTI_SASS_METRICS_OUTPUT_GRANULARITY_GPU});
      break;
    }
  }
  if (configs.empty())
    return fail(ErrorKind::cannot_run, fmt::format("CUPTI does not support these counts per instruction on {}", chip_));
  auto p = sized<CUpti_SassMetricsSetConfig_Params>(CUpti_SassMetricsSetConfig_Params_STRUCT_SIZE);
  p.numOfMetricConfig = configs.size();
  p.pConfigs = configs.data();
  p.deviceIndex = static_cast<std::uint32_t>(device_);
  good = cupti_->check(call.sass_configure(&p), "cuptiSassMetricsSetConfig");
  configured_ = good.has_value();
  return good;
}

SassCounter::~SassCounter() {
  if (!configured_) return;
  auto p = sized<CUpti_SassMetricsUnsetConfig_Params>(CUpti_SassMetricsUnsetConfig_Params_STRUCT_SIZE);
  p.deviceIndex = static_cast<std::uint32_t>(device_);
  (void)cupti_->call().sass_unconfigure(&p);
}

Result<void> SassCounter::enable() {
  auto p = sized<CUpti_SassMetricsEnable_Params>(CUpti_SassMetricsEnable_Params_STRUCT_SIZE);
  p.ctx = context_;
  p.enableLazyPatching = kLazily;
  return cupti_->check(cupti_->call().sass_enable(&p), "cuptiSassMetricsEnable");
}

// Has to come before disable(): what was not read by then is lost.
Result<void> SassCounter::read(Records& records) {
  auto size = sized<CUpti_SassMetricsGetDataProperties_Params>(CUpti_SassMetricsGetDataProperties_Params_STRUCT_SIZE);
  size.ctx = context_;
  auto good = cupti_->check(cupti_->call().sass_data_size(&size), "cuptiSassMetricsGetDataProperties");
  if (!good) return good;
  if (size.numOfPatchedInstructionRecords == 0 || size.numOfInstances == 0)
    return fail(ErrorKind::failed, "CUPTI returned counts for no instruction");
  records.make_room(size.numOfPatchedInstructionRecords, size.numOfInstances, ids_.size());
  auto flush = sized<CUpti_SassMetricsFlushData_Params>(CUpti_SassMetricsFlushData_Params_STRUCT_SIZE);
  flush.ctx = context_;
  flush.numOfPatchedInstructionRecords = size.numOfPatchedInstructionRecords;
  flush.numOfInstances = size.numOfInstances;
  flush.pMetricsData = records.data.data();
  return cupti_->check(cupti_->call().sass_data(&flush), "cuptiSassMetricsFlushData");
}

Result<void> SassCounter::disable(std::size_t& dropped) {
  auto p = sized<CUpti_SassMetricsDisable_Params>(CUpti_SassMetricsDisable_Params_STRUCT_SIZE);
  p.ctx = context_;
  auto good = cupti_->check(cupti_->call().sass_disable(&p), "cuptiSassMetricsDisable");
  dropped = p.numOfDroppedRecords;
  return good;
}

// The records of the cubin by function and address; of other code only how many, and whose.
void SassCounter::put(const Records& records, std::uint64_t crc, InstructionCounts& counts) const {
  std::map<std::string, std::map<std::uint32_t, std::vector<std::uint64_t>>> functions;
  std::set<std::string> others;
  for (const CUpti_SassMetrics_Data& record : records.data) {
    const std::string name = record.functionName == nullptr ? "" : record.functionName;
    if (record.cubinCrc != short_crc(crc) || name.empty()) {
      ++counts.of_other_code;
      others.insert(fmt::format("{:08x} {}", record.cubinCrc, name));
      continue;
    }
    std::vector<std::uint64_t>& values = functions[name][record.pcOffset];
    values.resize(ids_.size());
    for (std::size_t n = 0; n < records.each; ++n) {
      const CUpti_SassMetrics_InstanceValue& value = record.pInstanceValues[n];
      const auto at = std::ranges::find(ids_, value.metricId);
      if (value.metricId != 0 && at != ids_.end()) values[static_cast<std::size_t>(at - ids_.begin())] += value.value;
    }
  }
  for (auto& [name, by_address] : functions) {
    InstructionCounts::Function& f = counts.functions.emplace_back();
    f.name = name;
    for (auto& [address, values] : by_address) f.instructions.push_back({address, std::move(values)});
  }
  for (const std::string& other : others) counts.others += (counts.others.empty() ? "" : ", ") + other;
}

Result<InstructionCounts> SassCounter::count(const CountSpec& spec, const std::function<Result<void>()>& run) {
  const double begin = steady_seconds();
  const auto crc = crc_of(*cupti_, spec.cubin);
  if (!crc) return tl::unexpected(crc.error());
  auto good = configure(spec.what);
  if (good) good = enable();
  if (!good) return tl::unexpected(good.error());
  Records records;
  std::size_t dropped = 0;
  good = run();
  if (good) good = read(records);
  auto disabled = disable(dropped);
  if (good) good = disabled;
  if (good && dropped > 0) good = fail(ErrorKind::failed, fmt::format("CUPTI lost {} records of counts", dropped));
  if (!good) return tl::unexpected(good.error());
  InstructionCounts counts;
  counts.names = chosen_;
  counts.chip = chip_;
  put(records, *crc, counts);
  if (counts.functions.empty())
    return fail(
        ErrorKind::failed,
        fmt::format(
            "CUPTI returned counts for no instruction of the kernel's cubin {:08x}, but for {} of other cubins: {}",
            short_crc(*crc), counts.of_other_code, counts.others));
  counts.seconds = steady_seconds() - begin;
  return counts;
}

}  // namespace attn::cupti
