// The functions of libcuda.so.1 that the driver calls, typed. For driver.cpp alone: it needs CUDA's header.
#pragma once

#include <cudaTypedefs.h>

#include <string>
#include <string_view>

#include "kernels/base/library.h"
#include "kernels/base/result.h"

namespace attn::gpu {

// How a call that failed is told: "cuInit failed: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)".
struct ErrorCalls {
  PFN_cuGetErrorName_v6000 name = nullptr;
  PFN_cuGetErrorString_v6000 string = nullptr;
  std::string words(CUresult r, std::string_view call) const;
};

// Every function in the version whose type stands beside it. cuGetProcAddress hands out the function of the version
// that is asked for, and the signature may differ between versions: type and number must agree.
struct Calls {
  PFN_cuInit_v2000 init = nullptr;
  PFN_cuDriverGetVersion_v2020 version = nullptr;
  PFN_cuDeviceGetCount_v2000 device_count = nullptr;
  PFN_cuDeviceGet_v2000 device_get = nullptr;
  PFN_cuDeviceGetName_v2000 device_name = nullptr;
  PFN_cuDeviceGetUuid_v11040 device_uuid = nullptr;
  PFN_cuDeviceGetAttribute_v2000 device_attribute = nullptr;
  PFN_cuDeviceTotalMem_v3020 device_memory = nullptr;
  PFN_cuDevicePrimaryCtxRetain_v7000 retain = nullptr;
  PFN_cuDevicePrimaryCtxRelease_v11000 release = nullptr;
  PFN_cuCtxSetCurrent_v4000 set_current = nullptr;
  PFN_cuCtxGetCurrent_v4000 get_current = nullptr;
  PFN_cuCtxGetDevice_v2000 current_device = nullptr;
  PFN_cuCtxGetId_v12000 context_id = nullptr;
  PFN_cuMemGetInfo_v3020 memory_info = nullptr;
  PFN_cuMemAlloc_v3020 allocate = nullptr;
  PFN_cuMemFree_v3020 free = nullptr;
  PFN_cuMemsetD8Async_v3020 fill = nullptr;
  PFN_cuMemcpyHtoDAsync_v3020 upload = nullptr;
  PFN_cuMemcpyDtoHAsync_v3020 download = nullptr;
  PFN_cuModuleLoadData_v2000 load = nullptr;
  PFN_cuModuleUnload_v2000 unload = nullptr;
  PFN_cuModuleGetFunction_v2000 function = nullptr;
  PFN_cuModuleGetGlobal_v3020 variable = nullptr;
  PFN_cuFuncSetAttribute_v9000 set_attribute = nullptr;
  PFN_cuLaunchKernelEx_v11060 launch = nullptr;
  PFN_cuTensorMapEncodeTiled_v12000 encode_tiled = nullptr;
  PFN_cuStreamCreate_v2000 stream_create = nullptr;
  PFN_cuStreamIsCapturing_v10000 stream_is_capturing = nullptr;
  PFN_cuStreamSynchronize_v2000 stream_synchronize = nullptr;
  PFN_cuStreamDestroy_v4000 stream_destroy = nullptr;
  PFN_cuEventCreate_v2000 event_create = nullptr;
  PFN_cuEventRecord_v2000 event_record = nullptr;
  PFN_cuEventSynchronize_v2000 event_synchronize = nullptr;
  PFN_cuEventElapsedTime_v2000 event_elapsed = nullptr;
  PFN_cuEventDestroy_v4000 event_destroy = nullptr;
  ErrorCalls error;
};

// What several GPUs need beside: memory of another process, copies between GPUs, values that streams write and await.
struct PeerCalls {
  PFN_cuIpcGetMemHandle_v4010 memory_handle = nullptr;
  PFN_cuIpcOpenMemHandle_v11000 open_memory = nullptr;
  PFN_cuIpcCloseMemHandle_v4010 close_memory = nullptr;
  PFN_cuMemcpyDtoDAsync_v3020 copy = nullptr;
  PFN_cuStreamWriteValue32_v11070 write_value = nullptr;
  PFN_cuStreamWaitValue32_v11070 wait_value = nullptr;
  PFN_cuStreamWaitEvent_v3020 wait_event = nullptr;
  PFN_cuStreamQuery_v2000 query = nullptr;
  ErrorCalls error;
};

// The error names what the library lacks, and which driver has it.
Result<Calls> resolve_calls(const Library& library);
Result<PeerCalls> resolve_peer_calls(const Library& library);

}  // namespace attn::gpu
