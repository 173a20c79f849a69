// libcupti, opened at run time, and the functions of it that this program calls. For this folder: it alone knows
// CUPTI's headers.
#pragma once

#include <cupti_activity.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_sass_metrics.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/base/library.h"
#include "kernels/base/result.h"

namespace attn::cupti {

struct Calls {
  decltype(&cuptiGetVersion) version = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  // kernel time stamps
  decltype(&cuptiActivityRegisterCallbacks) activity_callbacks = nullptr;
  decltype(&cuptiActivityEnable) activity_enable = nullptr;
  decltype(&cuptiActivityDisable) activity_disable = nullptr;
  decltype(&cuptiActivityFlushAll) activity_flush = nullptr;
  decltype(&cuptiActivityGetNextRecord) activity_next = nullptr;
  // what a chip has, with or without one in the machine
  decltype(&cuptiProfilerHostGetSupportedChips) chips = nullptr;
  decltype(&cuptiProfilerHostInitialize) host_initialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize = nullptr;
  decltype(&cuptiProfilerHostGetMetricProperties) metric_properties = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_size = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) config_image = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) pass_count = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  // counters
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiDeviceGetChipName) chip_name = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) availability = nullptr;
  decltype(&cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) data_size = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) data_initialize = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) set_config = nullptr;
  decltype(&cuptiRangeProfilerStart) start = nullptr;
  decltype(&cuptiRangeProfilerStop) stop = nullptr;
  decltype(&cuptiRangeProfilerPushRange) push = nullptr;
  decltype(&cuptiRangeProfilerPopRange) pop = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) decode = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) data_info = nullptr;
  // samples of instructions
  decltype(&cuptiPCSamplingEnable) pc_enable = nullptr;
  decltype(&cuptiPCSamplingDisable) pc_disable = nullptr;
  decltype(&cuptiPCSamplingGetNumStallReasons) pc_reason_count = nullptr;
  decltype(&cuptiPCSamplingGetStallReasons) pc_reasons = nullptr;
  decltype(&cuptiPCSamplingSetConfigurationAttribute) pc_configure = nullptr;
  decltype(&cuptiPCSamplingStart) pc_start = nullptr;
  decltype(&cuptiPCSamplingStop) pc_stop = nullptr;
  decltype(&cuptiPCSamplingGetData) pc_data = nullptr;
  decltype(&cuptiGetCubinCrc) cubin_crc = nullptr;
  // counters over time
  decltype(&cuptiPmSamplingGetCounterAvailability) pm_availability = nullptr;
  decltype(&cuptiPmSamplingEnable) pm_enable = nullptr;
  decltype(&cuptiPmSamplingDisable) pm_disable = nullptr;
  decltype(&cuptiPmSamplingSetConfig) pm_configure = nullptr;
  decltype(&cuptiPmSamplingGetCounterDataSize) pm_image_size = nullptr;
  decltype(&cuptiPmSamplingCounterDataImageInitialize) pm_image = nullptr;
  decltype(&cuptiPmSamplingStart) pm_start = nullptr;
  decltype(&cuptiPmSamplingStop) pm_stop = nullptr;
  decltype(&cuptiPmSamplingDecodeData) pm_decode = nullptr;
  decltype(&cuptiPmSamplingGetCounterDataInfo) pm_image_info = nullptr;
  decltype(&cuptiPmSamplingCounterDataGetSampleInfo) pm_sample = nullptr;
  // counts of instructions
  decltype(&cuptiSassMetricsGetProperties) sass_properties = nullptr;
  decltype(&cuptiSassMetricsSetConfig) sass_configure = nullptr;
  decltype(&cuptiSassMetricsUnsetConfig) sass_unconfigure = nullptr;
  decltype(&cuptiSassMetricsEnable) sass_enable = nullptr;
  decltype(&cuptiSassMetricsDisable) sass_disable = nullptr;
  decltype(&cuptiSassMetricsGetDataProperties) sass_data_size = nullptr;
  decltype(&cuptiSassMetricsFlushData) sass_data = nullptr;
};

// An open library. Its functions work as long as the object lives.
class Cupti {
 public:
  // The error says what is missing or does not fit, and what would mend it.
  static Result<std::shared_ptr<const Cupti>> open();
  const Calls& call() const { return calls_; }
  std::string version() const;  // "CUPTI 13.0"
  // In words: the call, CUPTI's name for what happened, and for refusals what would change it.
  Result<void> check(CUptiResult r, const char* call) const;

 private:
  Cupti(Library library, const Calls& calls, std::uint32_t version)
      : library_(std::move(library)), calls_(calls), version_(version) {}
  Library library_;
  Calls calls_;
  std::uint32_t version_;
};

// The context of this thread.
Result<CUcontext> current_context();

// As CUPTI names a cubin in its records.
Result<std::uint64_t> crc_of(const Cupti& cupti, std::span<const std::byte> cubin);

// The parameters of a call, their size filled in.
template <class Params>
Params sized(std::size_t size) {
  Params p{};
  p.structSize = size;
  return p;
}

}  // namespace attn::cupti
