#include "kernels/gpu/device/driver.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "kernels/base/library.h"
#include "kernels/base/text.h"
#include "kernels/gpu/device/driver_calls.h"

namespace attn::gpu {
namespace {

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
  Result<Context> join_context(std::int32_t gpu) override;

  Result<std::uint64_t> free_memory() override {
    std::size_t free = 0, total = 0;
    if (auto good = check(call_.memory_info(&free, &total), "cuMemGetInfo"); !good) return tl::unexpected(good.error());
    return free;
  }
  Result<DevicePointer> allocate(std::uint64_t bytes) override {
    CUdeviceptr p = 0;
    const CUresult r = call_.allocate(&p, std::max<std::size_t>(bytes, 1));
    if (auto good = check(r, phrase("cuMemAlloc of {} bytes", bytes)); !good) return tl::unexpected(good.error());
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
    if (auto good = check(r, phrase("cuModuleGetFunction of {}", entry)); !good) return tl::unexpected(good.error());
    return f;
  }
  Result<DevicePointer> variable(Module m, const std::string& name) override {
    CUdeviceptr at = 0;
    std::size_t bytes = 0;
    const CUresult r = call_.variable(&at, &bytes, static_cast<CUmodule>(m), name.c_str());
    if (auto good = check(r, phrase("cuModuleGetGlobal of {}", name)); !good) return tl::unexpected(good.error());
    return DevicePointer{at};
  }
  Result<void> allow_shared(Function f, std::uint32_t bytes) override {
    const CUresult r = call_.set_attribute(static_cast<CUfunction>(f), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           static_cast<int>(bytes));
    return check(r, phrase("cuFuncSetAttribute for {} bytes of shared memory", bytes));
  }
  Result<void> launch(Function f, const LaunchShape& shape, StreamHandle s,
                      std::span<const void* const> parameters) override;
  Result<TensorMap> encode(const TensorTiles& tiles) override;

  Result<StreamHandle> create_stream() override {
    CUstream s = nullptr;
    const CUresult r = call_.stream_create(&s, CU_STREAM_NON_BLOCKING);
    if (auto good = check(r, "cuStreamCreate"); !good) return tl::unexpected(good.error());
    return s;
  }
  void destroy_stream(StreamHandle s) override {
    if (!lost_) call_.stream_destroy(stream(s));
  }
  Result<bool> capturing(StreamHandle s) override {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult r = call_.stream_is_capturing(stream(s), &status);
    if (auto good = check(r, "cuStreamIsCapturing"); !good) return tl::unexpected(good.error());
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
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
    const bool machine = r == CUDA_ERROR_OUT_OF_MEMORY || r == CUDA_ERROR_NO_DEVICE || what == "cuInit";
    return fail(machine ? ErrorKind::cannot_run : ErrorKind::failed, call_.error.words(r, what));
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
  if (auto good = check(call_.device_get(&device_, index), phrase("cuDeviceGet of GPU {}", index)); !good) {
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
  if (auto good = check(call_.device_get(&device_, index), phrase("cuDeviceGet of GPU {}", index)); !good) {
    return good;
  }
  if (auto good = check(call_.retain(&context_, device_), "cuDevicePrimaryCtxRetain"); !good) return good;
  return check(call_.set_current(context_), "cuCtxSetCurrent");
}

Result<Context> CudaDriver::join_context(std::int32_t gpu) {
  CUcontext current = nullptr;
  if (auto good = check(call_.get_current(&current), "cuCtxGetCurrent"); !good) return tl::unexpected(good.error());
  if (current == nullptr) {
    if (auto opened = open_device(gpu); !opened) return tl::unexpected(opened.error());
    current = context_;
  }
  if (auto good = check(call_.current_device(&device_), "cuCtxGetDevice"); !good) return tl::unexpected(good.error());
  unsigned long long id = 0;
  if (auto good = check(call_.context_id(current, &id), "cuCtxGetId"); !good) return tl::unexpected(good.error());
  return Context{device_, id};
}

// Attributes that say what holds anyway are left out: a plain launch is cuLaunchKernel's.
Result<void> CudaDriver::launch(Function f, const LaunchShape& shape, StreamHandle s,
                                std::span<const void* const> parameters) {
  std::array<CUlaunchAttribute, 2> attributes{};
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream(s);
  config.attrs = attributes.data();
  if (shape.cluster != std::array<std::uint32_t, 3>{1, 1, 1}) {
    CUlaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
  }
  if (shape.early_start) {
    CUlaunchAttribute& early = attributes[config.numAttrs++];
    early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    early.value.programmaticStreamSerializationAllowed = 1;
  }
  // The driver reads the addresses and what lies there before it returns, and writes neither.
  auto* const addresses = const_cast<void**>(parameters.data());
  return check(call_.launch(&config, static_cast<CUfunction>(f), addresses, nullptr), "cuLaunchKernelEx");
}

Result<TensorMap> CudaDriver::encode(const TensorTiles& tiles) {
  if (auto good = validate(tiles); !good) return tl::unexpected(good.error());
  constexpr CUtensorMapDataType kTypes[] = {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                            CU_TENSOR_MAP_DATA_TYPE_BFLOAT16};
  constexpr CUtensorMapSwizzle kSwizzles[] = {CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B,
                                              CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B};
  constexpr CUtensorMapL2promotion kPromotions[] = {CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
                                                    CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B};
  static_assert(sizeof(CUtensorMap) == sizeof(TensorMap) && alignof(CUtensorMap) <= alignof(TensorMap));
  CUtensorMap made{};
  const CUresult r = call_.encode_tiled(
      &made, kTypes[static_cast<std::size_t>(tiles.dtype)], tiles.rank,
      reinterpret_cast<void*>(tiles.address),  // NOLINT(performance-no-int-to-ptr): an address of the device
      tiles.extents.data(), tiles.strides.data(), tiles.box.data(), tiles.element_strides.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE, kSwizzles[static_cast<std::size_t>(tiles.swizzle)],
      kPromotions[static_cast<std::size_t>(tiles.promotion)],
      tiles.outside == OutsideTensor::nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                          : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (auto good = check(r, "cuTensorMapEncodeTiled"); !good) return tl::unexpected(good.error());
  TensorMap map;
  std::memcpy(map.opaque.data(), &made, sizeof map.opaque);
  return map;
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

LaunchShape shape_of(const Launch& l) {
  LaunchShape shape;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    shape.grid[axis] = static_cast<std::uint32_t>(l.grid[axis]);
    shape.block[axis] = static_cast<std::uint32_t>(l.block[axis]);
    shape.cluster[axis] = static_cast<std::uint32_t>(l.cluster[axis]);
  }
  shape.shared_bytes = static_cast<std::uint32_t>(l.shared_bytes);
  shape.early_start = l.early_start;
  return shape;
}

Result<std::unique_ptr<Driver>> open_driver() {
  Result<Library> library = Library::open("libcuda.so.1");
  if (!library) {
    return fail(ErrorKind::cannot_run,
                phrase("No NVIDIA driver found ({}). GPU kernels need an NVIDIA GPU and driver 570 or newer.",
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
