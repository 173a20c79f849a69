// libcuda.so.1 of a machine without a GPU: memory of the device is the process's, launches compute nothing and are
// kept, and every call is counted. The tests of what a call from Python costs the host load it in the driver's place.
#include <cuda.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

// A launch: its entry, its stream and the first 128 bytes of its first parameter, which has as many.
struct Kept {
  std::string entry;
  std::uint64_t stream = 0;
  std::uint64_t words[16] = {};
};

struct Fake {
  std::mutex mutex;
  std::map<std::string, std::uint64_t> calls;
  std::map<std::string, std::string> entries;  // their addresses are the handles of functions
  std::vector<Kept> launches;
  bool capturing = false;
  std::uint64_t context = 1;  // the thread's, 0: none; the primary one is 1
};

Fake& fake() {
  static Fake* const only = new Fake();
  return *only;
}

CUresult counted(const char* name) {
  const std::scoped_lock lock(fake().mutex);
  ++fake().calls[name];
  return CUDA_SUCCESS;
}

template <class To, class From>
To as(From value) {
  return reinterpret_cast<To>(value);
}

int attribute_of(CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 132;
    default:
      return 1 << 17;
  }
}

// ---- by the names that cuGetProcAddress is asked for

using Any = void (*)();

std::map<std::string, Any> devices_and_memory() {
  return {
      {"cuInit", as<Any>(+[](unsigned) { return counted("cuInit"); })},
      {"cuDriverGetVersion", as<Any>(+[](int* v) { return *v = 13000, counted("cuDriverGetVersion"); })},
      {"cuDeviceGetCount", as<Any>(+[](int* n) { return *n = 1, counted("cuDeviceGetCount"); })},
      {"cuDeviceGet", as<Any>(+[](CUdevice* d, int) { return *d = 0, counted("cuDeviceGet"); })},
      {"cuDeviceGetName", as<Any>(+[](char* name, int, CUdevice) {
         std::strcpy(name, "no GPU");
         return counted("cuDeviceGetName");
       })},
      {"cuDeviceGetUuid", as<Any>(+[](CUuuid*, CUdevice) { return counted("cuDeviceGetUuid"); })},
      {"cuDeviceGetAttribute", as<Any>(+[](int* value, CUdevice_attribute which, CUdevice) {
         *value = attribute_of(which);
         return counted("cuDeviceGetAttribute");
       })},
      {"cuDeviceTotalMem",
       as<Any>(+[](std::size_t* n, CUdevice) { return *n = std::size_t{80} << 30, counted("cuDeviceTotalMem"); })},
      {"cuDevicePrimaryCtxRetain", as<Any>(+[](CUcontext* c, CUdevice) {
         *c = as<CUcontext>(std::uint64_t{1});
         return counted("cuDevicePrimaryCtxRetain");
       })},
      {"cuCtxGetCurrent",
       as<Any>(+[](CUcontext* c) { return *c = as<CUcontext>(fake().context), counted("cuCtxGetCurrent"); })},
      {"cuCtxSetCurrent", as<Any>(+[](CUcontext c) {
         fake().context = as<std::uint64_t>(c);
         return counted("cuCtxSetCurrent");
       })},
      {"cuCtxGetId", as<Any>(+[](CUcontext c, unsigned long long* id) {
         *id = as<std::uint64_t>(c);
         return counted("cuCtxGetId");
       })},
      {"cuCtxGetDevice", as<Any>(+[](CUdevice* d) { return *d = 0, counted("cuCtxGetDevice"); })},
      {"cuMemAlloc", as<Any>(+[](CUdeviceptr* p, std::size_t bytes) {
         *p = as<CUdeviceptr>(std::malloc(bytes));
         return counted("cuMemAlloc");
       })},
      // Freed memory keeps no number that a late reader could take for right.
      {"cuMemFree", as<Any>(+[](CUdeviceptr p) {
         std::memset(as<void*>(p), 0xFF, malloc_usable_size(as<void*>(p)));
         std::free(as<void*>(p));
         return counted("cuMemFree");
       })},
      {"cuMemsetD8Async", as<Any>(+[](CUdeviceptr p, unsigned char byte, std::size_t n, CUstream) {
         std::memset(as<void*>(p), byte, n);
         return counted("cuMemsetD8Async");
       })},
      {"cuMemcpyHtoDAsync", as<Any>(+[](CUdeviceptr to, const void* from, std::size_t n, CUstream) {
         if (fake().capturing) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
         std::memcpy(as<void*>(to), from, n);
         return counted("cuMemcpyHtoDAsync");
       })},
  };
}

std::map<std::string, Any> modules_and_launches() {
  return {
      {"cuModuleLoadData",
       as<Any>(+[](CUmodule* m, const void*) { return *m = as<CUmodule>(&fake()), counted("cuModuleLoadData"); })},
      {"cuModuleUnload", as<Any>(+[](CUmodule) { return counted("cuModuleUnload"); })},
      {"cuModuleGetFunction", as<Any>(+[](CUfunction* f, CUmodule, const char* name) {
         *f = as<CUfunction>(&fake().entries.emplace(name, name).first->second);
         return counted("cuModuleGetFunction");
       })},
      {"cuFuncSetAttribute",
       as<Any>(+[](CUfunction, CUfunction_attribute, int) { return counted("cuFuncSetAttribute"); })},
      {"cuLaunchKernelEx", as<Any>(+[](const CUlaunchConfig* config, CUfunction f, void** parameters, void**) {
         Kept kept{*as<const std::string*>(f), as<std::uint64_t>(config->hStream)};
         std::memcpy(kept.words, parameters[0], sizeof kept.words);
         {
           const std::scoped_lock lock(fake().mutex);
           if (fake().launches.size() < 1000) fake().launches.push_back(std::move(kept));
         }
         return counted("cuLaunchKernelEx");
       })},
      // The map's first number is the tensor's address; its strides follow.
      {"cuTensorMapEncodeTiled",
       as<Any>(+[](CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank, void* at, const cuuint64_t*,
                   const cuuint64_t* strides, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                   CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
         *map = {};
         map->opaque[0] = as<cuuint64_t>(at);
         std::copy_n(strides, rank - 1, map->opaque + 1);
         return counted("cuTensorMapEncodeTiled");
       })},
      {"cuStreamIsCapturing", as<Any>(+[](CUstream, CUstreamCaptureStatus* status) {
         *status = fake().capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
         return counted("cuStreamIsCapturing");
       })},
      {"cuStreamSynchronize", as<Any>(+[](CUstream) { return counted("cuStreamSynchronize"); })},
      {"cuGetErrorName",
       as<Any>(+[](CUresult, const char** name) { return *name = "an error", counted("cuGetErrorName"); })},
      {"cuGetErrorString",
       as<Any>(+[](CUresult, const char** words) { return *words = "of the double", counted("cuGetErrorString"); })},
  };
}

const std::map<std::string, Any>& table() {
  static const std::map<std::string, Any> all = [] {
    std::map<std::string, Any> both = devices_and_memory();
    both.merge(modules_and_launches());
    return both;
  }();
  return all;
}

// In the place of calls that no test makes.
CUresult not_there() {
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) CUresult cuGetProcAddress_v2(const char* name, void** found, int, cuuint64_t,
                                                                    CUdriverProcAddressQueryResult*) {
  const auto at = table().find(name);
  *found = as<void*>(at == table().end() ? as<Any>(&not_there) : at->second);
  return CUDA_SUCCESS;
}

// ---- for the test

__attribute__((visibility("default"))) std::uint64_t fake_calls(const char* name) {
  const std::scoped_lock lock(fake().mutex);
  std::uint64_t all = 0;
  for (const auto& [call, count] : fake().calls)
    if (*name == '\0' || call == name) all += count;
  return all;
}
__attribute__((visibility("default"))) void fake_context(std::uint64_t number) {
  fake().context = number;
}
__attribute__((visibility("default"))) std::uint64_t fake_current_context() {
  return fake().context;
}
__attribute__((visibility("default"))) void fake_forget() {
  const std::scoped_lock lock(fake().mutex);
  fake().calls.clear();
  fake().launches.clear();
}
__attribute__((visibility("default"))) void fake_capture(int on) {
  fake().capturing = on != 0;
}
__attribute__((visibility("default"))) std::uint64_t fake_launches() {
  return fake().launches.size();
}
__attribute__((visibility("default"))) const char* fake_entry(std::uint64_t n) {
  return fake().launches.at(n).entry.c_str();
}
__attribute__((visibility("default"))) std::uint64_t fake_stream(std::uint64_t n) {
  return fake().launches.at(n).stream;
}
__attribute__((visibility("default"))) std::uint64_t fake_word(std::uint64_t n, std::uint64_t word) {
  return fake().launches.at(n).words[word % 16];
}
}
