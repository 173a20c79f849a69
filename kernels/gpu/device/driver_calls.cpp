#include "kernels/gpu/device/driver_calls.h"

#include <string>

#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

class Resolver {
 public:
  explicit Resolver(PFN_cuGetProcAddress_v12000 get) : get_(get) {}
  template <class F>
  void operator()(F& call, const char* name, int version) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult state{};
    const bool good = get_(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &state) == CUDA_SUCCESS;
    taken_.put(call, name, good ? found : nullptr);
  }
  const std::string& missing() const { return taken_.missing(); }

 private:
  PFN_cuGetProcAddress_v12000 get_;
  TakenSymbols taken_;
};

Result<PFN_cuGetProcAddress_v12000> resolver_of(const Library& library) {
  const auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(library.symbol("cuGetProcAddress_v2"));
  if (get != nullptr) return get;
  return fail(ErrorKind::cannot_run,
              tr("The NVIDIA driver is older than CUDA 12; install driver 570 or newer (580 for CUDA 13)."));
}

tl::unexpected<Error> lacking(const std::string& missing) {
  return fail(ErrorKind::cannot_run,
              phrase("The NVIDIA driver lacks {}; install driver 570 or newer (580 for CUDA 13).", missing));
}

void resolve_errors(Resolver& resolve, ErrorCalls& c) {
  resolve(c.name, "cuGetErrorName", 6000);
  resolve(c.string, "cuGetErrorString", 6000);
}

}  // namespace

std::string ErrorCalls::words(CUresult r, std::string_view call) const {
  const char *its_name = nullptr, *description = nullptr;
  if (name(r, &its_name) != CUDA_SUCCESS) its_name = tr("an unknown error");
  if (string(r, &description) != CUDA_SUCCESS) description = tr("no description");
  return phrase("{} failed: {} ({})", call, its_name, description);
}

Result<Calls> resolve_calls(const Library& library) {
  const auto get = resolver_of(library);
  if (!get) return tl::unexpected(get.error());
  Calls c;
  Resolver resolve(*get);
  resolve(c.init, "cuInit", 2000);
  resolve(c.version, "cuDriverGetVersion", 2020);
  resolve(c.device_count, "cuDeviceGetCount", 2000);
  resolve(c.device_get, "cuDeviceGet", 2000);
  resolve(c.device_name, "cuDeviceGetName", 2000);
  resolve(c.device_uuid, "cuDeviceGetUuid", 11040);
  resolve(c.device_attribute, "cuDeviceGetAttribute", 2000);
  resolve(c.device_memory, "cuDeviceTotalMem", 3020);
  resolve(c.retain, "cuDevicePrimaryCtxRetain", 7000);
  resolve(c.release, "cuDevicePrimaryCtxRelease", 11000);
  resolve(c.set_current, "cuCtxSetCurrent", 4000);
  resolve(c.get_current, "cuCtxGetCurrent", 4000);
  resolve(c.current_device, "cuCtxGetDevice", 2000);
  resolve(c.context_id, "cuCtxGetId", 12000);
  resolve(c.memory_info, "cuMemGetInfo", 3020);
  resolve(c.allocate, "cuMemAlloc", 3020);
  resolve(c.free, "cuMemFree", 3020);
  resolve(c.fill, "cuMemsetD8Async", 3020);
  resolve(c.upload, "cuMemcpyHtoDAsync", 3020);
  resolve(c.download, "cuMemcpyDtoHAsync", 3020);
  resolve(c.load, "cuModuleLoadData", 2000);
  resolve(c.unload, "cuModuleUnload", 2000);
  resolve(c.function, "cuModuleGetFunction", 2000);
  resolve(c.variable, "cuModuleGetGlobal", 3020);
  resolve(c.set_attribute, "cuFuncSetAttribute", 9000);
  resolve(c.launch, "cuLaunchKernelEx", 11060);
  resolve(c.encode_tiled, "cuTensorMapEncodeTiled", 12000);
  resolve(c.stream_create, "cuStreamCreate", 2000);
  resolve(c.stream_is_capturing, "cuStreamIsCapturing", 10000);
  resolve(c.stream_synchronize, "cuStreamSynchronize", 2000);
  resolve(c.stream_destroy, "cuStreamDestroy", 4000);
  resolve(c.event_create, "cuEventCreate", 2000);
  resolve(c.event_record, "cuEventRecord", 2000);
  resolve(c.event_synchronize, "cuEventSynchronize", 2000);
  resolve(c.event_elapsed, "cuEventElapsedTime", 2000);
  resolve(c.event_destroy, "cuEventDestroy", 4000);
  resolve_errors(resolve, c.error);
  if (!resolve.missing().empty()) return lacking(resolve.missing());
  return c;
}

Result<PeerCalls> resolve_peer_calls(const Library& library) {
  const auto get = resolver_of(library);
  if (!get) return tl::unexpected(get.error());
  PeerCalls c;
  Resolver resolve(*get);
  resolve(c.memory_handle, "cuIpcGetMemHandle", 4010);
  resolve(c.open_memory, "cuIpcOpenMemHandle", 11000);
  resolve(c.close_memory, "cuIpcCloseMemHandle", 4010);
  resolve(c.copy, "cuMemcpyDtoDAsync", 3020);
  resolve(c.write_value, "cuStreamWriteValue32", 11070);
  resolve(c.wait_value, "cuStreamWaitValue32", 11070);
  resolve(c.wait_event, "cuStreamWaitEvent", 3020);
  resolve(c.query, "cuStreamQuery", 2000);
  resolve_errors(resolve, c.error);
  if (!resolve.missing().empty()) return lacking(resolve.missing());
  return c;
}

}  // namespace attn::gpu
