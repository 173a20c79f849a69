#include "profiling/cupti/calls.h"

#include <fmt/format.h>

#include "kernels/base/cuda_library.h"

namespace attn::cupti {
namespace {

constexpr std::uint32_t kBuiltFor = CUPTI_API_VERSION;  // 130001 = 13.0; below 13 a count without such a meaning
constexpr const char* kMend = "Install a CUDA toolkit, or run: attnscope doctor --fetch-cuda";

std::string words_for(std::uint32_t version) {
  if (version < 10000) return fmt::format("CUPTI of API version {}", version);
  return fmt::format("CUPTI {}.{}", version / 10000, version % 10000 / 100);
}

// A library is as new as the headers this program was built with, of the same major version.
bool fits(std::uint32_t version) {
  return version / 10000 == kBuiltFor / 10000 && version / 100 >= kBuiltFor / 100;
}

class Resolver {
 public:
  explicit Resolver(const Library& library) : library_(library) {}
  template <class F>
  void operator()(F& call, const char* name) {
    taken_.take(library_, call, name);
  }
  const std::string& missing() const { return taken_.missing(); }

 private:
  const Library& library_;
  TakenSymbols taken_;
};

Result<Calls> resolve_calls(const Library& library) {
  Calls c;
  Resolver resolve(library);
  resolve(c.version, "cuptiGetVersion");
  resolve(c.result_string, "cuptiGetResultString");
  resolve(c.activity_callbacks, "cuptiActivityRegisterCallbacks");
  resolve(c.activity_enable, "cuptiActivityEnable");
  resolve(c.activity_disable, "cuptiActivityDisable");
  resolve(c.activity_flush, "cuptiActivityFlushAll");
  resolve(c.activity_next, "cuptiActivityGetNextRecord");
  resolve(c.chips, "cuptiProfilerHostGetSupportedChips");
  resolve(c.host_initialize, "cuptiProfilerHostInitialize");
  resolve(c.host_deinitialize, "cuptiProfilerHostDeinitialize");
  resolve(c.metric_properties, "cuptiProfilerHostGetMetricProperties");
  resolve(c.add_metrics, "cuptiProfilerHostConfigAddMetrics");
  resolve(c.config_size, "cuptiProfilerHostGetConfigImageSize");
  resolve(c.config_image, "cuptiProfilerHostGetConfigImage");
  resolve(c.pass_count, "cuptiProfilerHostGetNumOfPasses");
  resolve(c.evaluate, "cuptiProfilerHostEvaluateToGpuValues");
  resolve(c.initialize, "cuptiProfilerInitialize");
  resolve(c.chip_name, "cuptiDeviceGetChipName");
  resolve(c.availability, "cuptiProfilerGetCounterAvailability");
  resolve(c.enable, "cuptiRangeProfilerEnable");
  resolve(c.disable, "cuptiRangeProfilerDisable");
  resolve(c.data_size, "cuptiRangeProfilerGetCounterDataSize");
  resolve(c.data_initialize, "cuptiRangeProfilerCounterDataImageInitialize");
  resolve(c.set_config, "cuptiRangeProfilerSetConfig");
  resolve(c.start, "cuptiRangeProfilerStart");
  resolve(c.stop, "cuptiRangeProfilerStop");
  resolve(c.push, "cuptiRangeProfilerPushRange");
  resolve(c.pop, "cuptiRangeProfilerPopRange");
  resolve(c.decode, "cuptiRangeProfilerDecodeData");
  resolve(c.data_info, "cuptiRangeProfilerGetCounterDataInfo");
  resolve(c.pc_enable, "cuptiPCSamplingEnable");
  resolve(c.pc_disable, "cuptiPCSamplingDisable");
  resolve(c.pc_reason_count, "cuptiPCSamplingGetNumStallReasons");
  resolve(c.pc_reasons, "cuptiPCSamplingGetStallReasons");
  resolve(c.pc_configure, "cuptiPCSamplingSetConfigurationAttribute");
  resolve(c.pc_start, "cuptiPCSamplingStart");
  resolve(c.pc_stop, "cuptiPCSamplingStop");
  resolve(c.pc_data, "cuptiPCSamplingGetData");
  resolve(c.cubin_crc, "cuptiGetCubinCrc");
  resolve(c.pm_availability, "cuptiPmSamplingGetCounterAvailability");
  resolve(c.pm_enable, "cuptiPmSamplingEnable");
  resolve(c.pm_disable, "cuptiPmSamplingDisable");
  resolve(c.pm_configure, "cuptiPmSamplingSetConfig");
  resolve(c.pm_image_size, "cuptiPmSamplingGetCounterDataSize");
  resolve(c.pm_image, "cuptiPmSamplingCounterDataImageInitialize");
  resolve(c.pm_start, "cuptiPmSamplingStart");
  resolve(c.pm_stop, "cuptiPmSamplingStop");
  resolve(c.pm_decode, "cuptiPmSamplingDecodeData");
  resolve(c.pm_image_info, "cuptiPmSamplingGetCounterDataInfo");
  resolve(c.pm_sample, "cuptiPmSamplingCounterDataGetSampleInfo");
  resolve(c.sass_properties, "cuptiSassMetricsGetProperties");
  resolve(c.sass_configure, "cuptiSassMetricsSetConfig");
  resolve(c.sass_unconfigure, "cuptiSassMetricsUnsetConfig");
  resolve(c.sass_enable, "cuptiSassMetricsEnable");
  resolve(c.sass_disable, "cuptiSassMetricsDisable");
  resolve(c.sass_data_size, "cuptiSassMetricsGetDataProperties");
  resolve(c.sass_data, "cuptiSassMetricsFlushData");
  if (!resolve.missing().empty()) {
    return fail(ErrorKind::cannot_run, fmt::format("{} lacks {}: it is older than {}. {}", library.name(),
                                                   resolve.missing(), words_for(kBuiltFor), kMend));
  }
  return c;
}

// What would change a refusal that is no fault of the program.
const char* mend_of(CUptiResult r) {
  switch (r) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "; ask an administrator to set the kernel module option NVreg_RestrictProfilingToAdminUsers=0 or to run "
             "the program";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "; the host of this virtual machine must allow profiling";
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "; another profiler is running: stop it, or use --no-counters";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "; this GPU is in confidential mode, which has no counters";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return "; this is a slice of a GPU (MIG), which has no counters";
    default:
      return "";
  }
}

}  // namespace

Result<std::shared_ptr<const Cupti>> Cupti::open() {
  const std::string wanted = fmt::format("libcupti.so.{}", kBuiltFor / 10000);
  auto library = kBuiltFor < 10000 ? gpu::open_cuda_library({"libcupti.so.12", "libcupti.so"}, kMend)
                                   : gpu::open_cuda_library({wanted, "libcupti.so"}, kMend);
  if (!library) return tl::unexpected(library.error());
  const auto calls = resolve_calls(*library);
  if (!calls) return tl::unexpected(calls.error());
  std::uint32_t version = 0;
  if (calls->version(&version) != CUPTI_SUCCESS || !fits(version)) {
    return fail(ErrorKind::cannot_run, fmt::format("{} is {}, but this program was built for {}. {}", library->name(),
                                                   words_for(version), words_for(kBuiltFor), kMend));
  }
  library->stay();  // the driver calls into CUPTI for as long as there is a context
  return std::shared_ptr<const Cupti>(new Cupti(std::move(*library), *calls, version));
}

std::string Cupti::version() const {
  return words_for(version_);
}

Result<void> Cupti::check(CUptiResult r, const char* call) const {
  if (r == CUPTI_SUCCESS) return ok();
  const char* name = nullptr;
  if (calls_.result_string(r, &name) != CUPTI_SUCCESS || name == nullptr) name = "an unknown error";
  return fail(ErrorKind::cannot_run, fmt::format("{} failed: {}{}", call, name, mend_of(r)));
}

// cuCtxGetCurrent has had one signature since CUDA 4.
Result<CUcontext> current_context() {
  const auto driver = Library::open("libcuda.so.1");
  if (!driver) return tl::unexpected(driver.error());
  const auto get = reinterpret_cast<CUresult (*)(CUcontext*)>(driver->symbol("cuCtxGetCurrent"));
  CUcontext context = nullptr;
  if (get == nullptr || get(&context) != CUDA_SUCCESS || context == nullptr) {
    return fail(ErrorKind::failed, "cuCtxGetCurrent returned no context: a profiler needs an open GPU");
  }
  return context;
}

Result<std::uint64_t> crc_of(const Cupti& cupti, std::span<const std::byte> cubin) {
  CUpti_GetCubinCrcParams p{};
  p.size = CUpti_GetCubinCrcParamsSize;
  p.cubin = cubin.data();
  p.cubinSize = cubin.size();
  if (auto good = cupti.check(cupti.call().cubin_crc(&p), "cuptiGetCubinCrc"); !good)
    return tl::unexpected(good.error());
  return p.cubinCrc;
}

}  // namespace attn::cupti
