// The CUDA driver as this program uses it: an interface, so that a double that breaks on purpose can stand in its
// place, and the driver itself, opened at run time. This header needs no CUDA header.
//
// All calls belong to one thread. After a call that reports an illegal address, a launch timeout or the like, every
// later call of the process fails too (CUDA's "sticky" errors): lost() says so, and the process must end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "kernels/base/result.h"
#include "kernels/gpu/device/tensor_map.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

using Module = void*;
using Function = void*;
using StreamHandle = void*;
using Event = void*;

// What one GPU says of itself.
struct GpuProperties {
  std::int32_t index = 0;
  std::string name;
  std::string uuid;                   // 32 hexadecimal digits; tells two GPUs of one name apart
  std::string pci;                    // address on the bus: "0000:01:00.0"
  std::int32_t major = 0, minor = 0;  // compute capability
  std::int32_t sms = 0;
  std::int32_t clock_khz = 0;  // the highest of the SMs
  std::uint64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t shared_bytes_a_block = 0;  // the most a block may ask for
  // The architecture that kernels are compiled for: "sm_90a" on 9.0, else "sm_80" and so on.
  std::string arch() const;
};
Device device_of(const GpuProperties& p);

// How a kernel starts, in blocks, threads and bytes.
struct LaunchShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;  // dynamic, a block
  bool early_start = false;        // as in Launch
};
LaunchShape shape_of(const Launch& l);

struct Context {
  std::int32_t gpu = 0;
  std::uint64_t id = 0;  // that no other of this process has or had
};

class Driver {
 public:
  virtual ~Driver() = default;
  // 13000 for CUDA 13.0: the newest CUDA that this driver takes.
  virtual Result<std::int32_t> version() = 0;
  virtual Result<std::int32_t> device_count() = 0;
  virtual Result<GpuProperties> properties(std::int32_t index) = 0;
  // Makes the GPU's context the calling thread's; everything below needs it.
  virtual Result<void> open_device(std::int32_t index) = 0;
  // The same with the context that the calling thread has: the caller's, which stays his. A thread that has none gets
  // the primary one of `gpu`, which other libraries use as well.
  virtual Result<Context> join_context(std::int32_t gpu) = 0;

  virtual Result<std::uint64_t> free_memory() = 0;
  virtual Result<DevicePointer> allocate(std::uint64_t bytes) = 0;
  virtual void release(DevicePointer p) = 0;
  virtual Result<void> fill(DevicePointer p, std::uint8_t byte, std::uint64_t bytes, StreamHandle s) = 0;
  virtual Result<void> upload(DevicePointer to, const void* from, std::uint64_t bytes, StreamHandle s) = 0;
  virtual Result<void> download(void* to, DevicePointer from, std::uint64_t bytes, StreamHandle s) = 0;

  virtual Result<Module> load(const std::byte* cubin) = 0;
  virtual void unload(Module m) = 0;
  virtual Result<Function> function(Module m, const std::string& entry) = 0;
  // Where a variable of the module's own lies.
  virtual Result<DevicePointer> variable(Module m, const std::string& name) = 0;
  // Lets a kernel ask for more than 48 KiB of shared memory.
  virtual Result<void> allow_shared(Function f, std::uint32_t bytes) = 0;
  // `parameters` point to the kernel's parameters in their order; it knows their sizes. They are copied before the call
  // returns.
  virtual Result<void> launch(Function f, const LaunchShape& shape, StreamHandle s,
                              std::span<const void* const> parameters) = 0;
  // A tensor as the hardware's copies of tiles know it; refused as validate() says. Nothing is sent to the device.
  virtual Result<TensorMap> encode(const TensorTiles& tiles) = 0;

  virtual Result<StreamHandle> create_stream() = 0;
  virtual void destroy_stream(StreamHandle s) = 0;
  // What goes to the stream is being captured into a graph: kernel launches may, what waits or copies from the host's
  // memory may not.
  virtual Result<bool> capturing(StreamHandle s) = 0;
  virtual Result<void> synchronize(StreamHandle s) = 0;
  virtual Result<Event> create_event() = 0;
  virtual void destroy_event(Event e) = 0;
  virtual Result<void> record(Event e, StreamHandle s) = 0;
  // Milliseconds between two events; waits for the second.
  virtual Result<double> elapsed_ms(Event first, Event second) = 0;

  // A sticky error happened: this process can do nothing more on a GPU.
  virtual bool lost() const = 0;
};

// libcuda.so.1 of this machine. The error says what is missing and what would mend it.
Result<std::unique_ptr<Driver>> open_driver();

// Memory of the device, freed with the object.
class Memory {
 public:
  static Result<Memory> allocate(Driver& driver, std::uint64_t bytes);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();
  DevicePointer address() const { return address_; }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver hands out addresses as numbers
  void* pointer() const { return reinterpret_cast<void*>(address_); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Memory(Driver* driver, DevicePointer address, std::uint64_t bytes)
      : driver_(driver), address_(address), bytes_(bytes) {}
  Driver* driver_ = nullptr;
  DevicePointer address_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace attn::gpu
