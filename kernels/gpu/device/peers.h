// What processes with a GPU each do to one another: memory of another process as one's own (CUDA IPC), copies there by
// the copy engines, and values that one stream writes and another awaits, in whatever process. In the context that the
// calling thread has (Driver::open_device).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/base/result.h"
#include "kernels/gpu/device/driver.h"

namespace attn::gpu {

// Names a block of one process in another.
using MemoryHandle = std::array<std::byte, 64>;

class Peers {
 public:
  // libcuda.so.1, which the driver has opened before.
  static Result<std::unique_ptr<Peers>> open();
  virtual ~Peers() = default;

  // Of a whole block of Driver::allocate().
  virtual Result<MemoryHandle> share(DevicePointer p) = 0;
  // Another process's; its GPU must be reachable from ours.
  virtual Result<DevicePointer> open_shared(const MemoryHandle& handle) = 0;
  virtual void close_shared(DevicePointer p) = 0;

  // Enqueues.
  virtual Result<void> copy(DevicePointer to, DevicePointer from, std::uint64_t bytes, StreamHandle s) = 0;
  // 32 bits, once everything before it in the stream is done and can be read there.
  virtual Result<void> write(DevicePointer to, std::uint32_t value, StreamHandle s) = 0;
  // Until the 32 bits are at least so many.
  virtual Result<void> await(DevicePointer at, std::uint32_t value, StreamHandle s) = 0;
  virtual Result<void> await(Event e, StreamHandle s) = 0;
  // Waits for nothing.
  virtual Result<bool> finished(StreamHandle s) = 0;
};

}  // namespace attn::gpu
