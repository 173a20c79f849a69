#include "kernels/gpu/device/driver.h"

#include <cudaTypedefs.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/library.h"

namespace attn::gpu {
namespace {

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
  PFN_cuLaunchKernel_v4000 launch = nullptr;
  PFN_cuStreamCreate_v2000 stream_create = nullptr;
  PFN_cuStreamSynchronize_v2000 stream_synchronize = nullptr;
  PFN_cuStreamDestroy_v4000 stream_destroy = nullptr;
  PFN_cuEventCreate_v2000 event_create = nullptr;
  PFN_cuEventRecord_v2000 event_record = nullptr;
  PFN_cuEventSynchronize_v2000 event_synchronize = nullptr;
  PFN_cuEventElapsedTime_v2000 event_elapsed = nullptr;
  PFN_cuEventDestroy_v4000 event_destroy = nullptr;
  PFN_cuGetErrorName_v6000 error_name = nullptr;
  PFN_cuGetErrorString_v6000 error_string = nullptr;
};

class Resolver {
 public:
  explicit Resolver(PFN_cuGetProcAddress_v12000 get) : get_(get) {}
  template <class F>
  void operator()(F& call, const char* name, int version) {
    void* found = nullptr;
    CUdriverProcAddressQueryResult state{};
    if (get_(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &state) != CUDA_SUCCESS || found == nullptr) {
      missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
      return;
    }
    call = reinterpret_cast<F>(found);
  }
  const std::string& missing() const { return missing_; }

 private:
  PFN_cuGetProcAddress_v12000 get_;
  std::string missing_;
};

Result<Calls> resolve_calls(const Library& library) {
  const auto get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(library.symbol("cuGetProcAddress_v2"));
  if (get == nullptr) {
    return fail(ErrorKind::cannot_run,
                "The NVIDIA driver is older than CUDA 12: install driver 570 or newer (580 for CUDA 13).");
  }
  Calls c;
  Resolver resolve(get);
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
  resolve(c.launch, "cuLaunchKernel", 4000);
  resolve(c.stream_create, "cuStreamCreate", 2000);
  resolve(c.stream_synchronize, "cuStreamSynchronize", 2000);
  resolve(c.stream_destroy, "cuStreamDestroy", 4000);
  resolve(c.event_create, "cuEventCreate", 2000);
  resolve(c.event_record, "cuEventRecord", 2000);
  resolve(c.event_synchronize, "cuEventSynchronize", 2000);
  resolve(c.event_elapsed, "cuEventElapsedTime", 2000);
  resolve(c.event_destroy, "cuEventDestroy", 4000);
  resolve(c.error_name, "cuGetErrorName", 6000);
  resolve(c.error_string, "cuGetErrorString", 6000);
  if (!resolve.missing().empty()) {
    return fail(ErrorKind::cannot_run,
                "The NVIDIA driver lacks " + resolve.missing() + ": install driver 570 or newer (580 for CUDA 13).");
  }
  return c;
}

// After these every later call of the process fails with the same error.
bool sticky(CUresult r) {
  switch (r) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

class CudaDriver final : public Driver {
 public:
  CudaDriver(Library library, const Calls& calls) : library_(std::move(library)), call_(calls) {}
  ~CudaDriver() override {
    if (context_ != nullptr && !lost_) call_.release(device_);
  }

  Result<std::int32_t> version() override {
    int v = 0;
    if (auto good = check(call_.version(&v), "cuDriverGetVersion"); !good) return tl::unexpected(good.error());
    return v;
  }
  Result<std::int32_t> device_count() override {
    int n = 0;
    if (auto good = check(call_.device_count(&n), "cuDeviceGetCount"); !good) return tl::unexpected(good.error());
    return n;
  }
  Result<GpuProperties> properties(std::int32_t index) override;
  Result<void> open_device(std::int32_t index) override;

  Result<std::uint64_t> free_memory() override {
    std::size_t free = 0, total = 0;
    if (auto good = check(call_.memory_info(&free, &total), "cuMemGetInfo"); !good) return tl::unexpected(good.error());
    return free;
  }
  Result<DevicePointer> allocate(std::uint64_t bytes) override {
    CUdeviceptr p = 0;
    const CUresult r = call_.allocate(&p, std::max<std::size_t>(bytes, 1));
    if (auto good = check(r, fmt::format("cuMemAlloc of {} bytes", bytes)); !good) return tl::unexpected(good.error());
    return p;
  }
  void release(DevicePointer p) override {
    if (!lost_) call_.free(p);
  }
  Result<void> fill(DevicePointer p, std::uint8_t byte, std::uint64_t bytes, StreamHandle s) override {
    return bytes == 0 ? ok() : check(call_.fill(p, byte, bytes, stream(s)), "cuMemsetD8Async");
  }
  Result<void> upload(DevicePointer to, const void* from, std::uint64_t bytes, StreamHandle s) override {
    return bytes == 0 ? ok() : check(call_.upload(to, from, bytes, stream(s)), "cuMemcpyHtoDAsync");
  }
  Result<void> download(void* to, DevicePointer from, std::uint64_t bytes, StreamHandle s) override {
    return bytes == 0 ? ok() : check(call_.download(to, from, bytes, stream(s)), "cuMemcpyDtoHAsync");
  }

  Result<Module> load(const std::byte* cubin) override {
    CUmodule m = nullptr;
    if (auto good = check(call_.load(&m, cubin), "cuModuleLoadData"); !good) return tl::unexpected(good.error());
    return m;
  }
  void unload(Module m) override {
    if (!lost_) call_.unload(static_cast<CUmodule>(m));
  }
  Result<Function> function(Module m, const std::string& entry) override {
    CUfunction f = nullptr;
    const CUresult r = call_.function(&f, static_cast<CUmodule>(m), entry.c_str());
    if (auto good = check(r, "cuModuleGetFunction of " + entry); !good) return tl::unexpected(good.error());
    return f;
  }
  Result<DevicePointer> variable(Module m, const std::string& name) override {
    CUdeviceptr at = 0;
    std::size_t bytes = 0;
    const CUresult r = call_.variable(&at, &bytes, static_cast<CUmodule>(m), name.c_str());
    if (auto good = check(r, "cuModuleGetGlobal of " + name); !good) return tl::unexpected(good.error());
    return DevicePointer{at};
  }
  Result<void> allow_shared(Function f, std::uint32_t bytes) override {
    const CUresult r = call_.set_attribute(static_cast<CUfunction>(f), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           static_cast<int>(bytes));
    return check(r, fmt::format("cuFuncSetAttribute of {} bytes of shared memory", bytes));
  }
  Result<void> launch(Function f, const LaunchShape& shape, StreamHandle s, const void* argument) override {
    void* arguments[] = {const_cast<void*>(argument)};
    const CUresult r =
        call_.launch(static_cast<CUfunction>(f), shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0],
                     shape.block[1], shape.block[2], shape.shared_bytes, stream(s), arguments, nullptr);
    return check(r, "cuLaunchKernel");
  }

  Result<StreamHandle> create_stream() override {
    CUstream s = nullptr;
    const CUresult r = call_.stream_create(&s, CU_STREAM_NON_BLOCKING);
    if (auto good = check(r, "cuStreamCreate"); !good) return tl::unexpected(good.error());
    return s;
  }
  void destroy_stream(StreamHandle s) override {
    if (!lost_) call_.stream_destroy(stream(s));
  }
  Result<void> synchronize(StreamHandle s) override {
    return check(call_.stream_synchronize(stream(s)), "cuStreamSynchronize");
  }
  Result<Event> create_event() override {
    CUevent e = nullptr;
    if (auto good = check(call_.event_create(&e, CU_EVENT_DEFAULT), "cuEventCreate"); !good) {
      return tl::unexpected(good.error());
    }
    return e;
  }
  void destroy_event(Event e) override {
    if (!lost_) call_.event_destroy(static_cast<CUevent>(e));
  }
  Result<void> record(Event e, StreamHandle s) override {
    return check(call_.event_record(static_cast<CUevent>(e), stream(s)), "cuEventRecord");
  }
  Result<double> elapsed_ms(Event first, Event second) override {
    auto good = check(call_.event_synchronize(static_cast<CUevent>(second)), "cuEventSynchronize");
    if (!good) return tl::unexpected(good.error());
    float ms = 0;
    good = check(call_.event_elapsed(&ms, static_cast<CUevent>(first), static_cast<CUevent>(second)),
                 "cuEventElapsedTime");
    if (!good) return tl::unexpected(good.error());
    return ms;
  }
  bool lost() const override { return lost_; }

  Result<void> start() { return check(call_.init(0), "cuInit"); }

 private:
  static CUstream stream(StreamHandle s) { return static_cast<CUstream>(s); }

  Result<void> check(CUresult r, const std::string& what) {
    if (r == CUDA_SUCCESS) return ok();
    lost_ = lost_ || sticky(r);
    const char *name = nullptr, *words = nullptr;
    if (call_.error_name(r, &name) != CUDA_SUCCESS) name = "an unknown error";
    if (call_.error_string(r, &words) != CUDA_SUCCESS) words = "no words for it";
    const bool machine = r == CUDA_ERROR_OUT_OF_MEMORY || r == CUDA_ERROR_NO_DEVICE || what == "cuInit";
    return fail(machine ? ErrorKind::cannot_run : ErrorKind::failed,
                fmt::format("{} failed: {} ({})", what, name, words));
  }
  Result<std::int32_t> attribute(CUdevice_attribute which) {
    int value = 0;
    const CUresult r = call_.device_attribute(&value, which, device_);
    if (auto good = check(r, "cuDeviceGetAttribute"); !good) return tl::unexpected(good.error());
    return value;
  }

  Library library_;
  Calls call_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  bool lost_ = false;
};

Result<GpuProperties> CudaDriver::properties(std::int32_t index) {
  const CUdevice before = device_;
  GpuProperties p;
  p.index = index;
  if (auto good = check(call_.device_get(&device_, index), fmt::format("cuDeviceGet of GPU {}", index)); !good) {
    return tl::unexpected(good.error());
  }
  char name[256] = {};
  std::size_t bytes = 0;
  CUuuid uuid{};
  auto good = check(call_.device_name(name, sizeof name, device_), "cuDeviceGetName");
  if (good) good = check(call_.device_uuid(&uuid, device_), "cuDeviceGetUuid");
  if (good) good = check(call_.device_memory(&bytes, device_), "cuDeviceTotalMem");
  const auto take = [&](CUdevice_attribute which, auto& to) {
    if (!good) return;
    if (auto value = attribute(which))
      to = *value;
    else
      good = tl::unexpected(value.error());
  };
  std::int32_t domain = 0, bus = 0, slot = 0;
  take(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, domain);
  take(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, bus);
  take(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, slot);
  take(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, p.major);
  take(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, p.minor);
  take(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, p.sms);
  take(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, p.clock_khz);
  take(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, p.l2_bytes);
  take(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, p.shared_bytes_a_block);
  device_ = before;
  if (!good) return tl::unexpected(good.error());
  p.name = name;
  for (const char byte : uuid.bytes) p.uuid += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  p.pci = fmt::format("{:04x}:{:02x}:{:02x}.0", domain, bus, slot);
  p.memory_bytes = bytes;
  return p;
}

Result<void> CudaDriver::open_device(std::int32_t index) {
  if (auto good = check(call_.device_get(&device_, index), fmt::format("cuDeviceGet of GPU {}", index)); !good) {
    return good;
  }
  if (auto good = check(call_.retain(&context_, device_), "cuDevicePrimaryCtxRetain"); !good) return good;
  return check(call_.set_current(context_), "cuCtxSetCurrent");
}

}  // namespace

std::string GpuProperties::arch() const {
  const std::string number = fmt::format("sm_{}{}", major, minor);
  return number == "sm_90" ? "sm_90a" : number;  // wgmma and setmaxnreg exist in sm_90a alone
}

Device device_of(const GpuProperties& p) {
  Device d;
  d.processor = Processor::gpu;
  d.index = p.index;
  d.name = p.name;
  d.arch = p.arch();
  d.cores = p.sms;
  d.memory_bytes = p.memory_bytes;
  return d;
}

Result<std::unique_ptr<Driver>> open_driver() {
  Result<Library> library = Library::open("libcuda.so.1");
  if (!library) {
    return fail(ErrorKind::cannot_run, fmt::format("There is no NVIDIA driver here ({}). GPU kernels need a machine "
                                                   "with an NVIDIA GPU and driver 570 or newer.",
                                                   library.error().message));
  }
  Result<Calls> calls = resolve_calls(*library);
  if (!calls) return tl::unexpected(calls.error());
  auto driver = std::make_unique<CudaDriver>(std::move(*library), *calls);
  if (auto good = driver->start(); !good) return tl::unexpected(good.error());
  return driver;
}

Result<Memory> Memory::allocate(Driver& driver, std::uint64_t bytes) {
  Result<DevicePointer> address = driver.allocate(bytes);
  if (!address) return tl::unexpected(address.error());
  return Memory(&driver, *address, bytes);
}

Memory::Memory(Memory&& other) noexcept
    : driver_(std::exchange(other.driver_, nullptr)), address_(other.address_), bytes_(other.bytes_) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Memory::~Memory() {
  if (driver_ != nullptr) driver_->release(address_);
}

}  // namespace attn::gpu
