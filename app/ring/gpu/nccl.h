// NVIDIA's library of collectives as a ring needs it: sending to one neighbour while receiving from the other. Opened
// at run time, behind an interface.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kernels/base/result.h"
#include "kernels/gpu/device/driver.h"

namespace attn {

using NcclId = std::array<std::byte, 128>;

class Nccl {
 public:
  // `folder`: where else libnccl.so.2 may lie; may be empty. The library gets at most `channels` blocks of its own, and
  // no NVLink multicast.
  static Result<std::unique_ptr<Nccl>> open(const std::string& folder, std::int32_t channels);
  virtual ~Nccl() = default;
  virtual std::string version() = 0;
  // One rank makes it, all join by it.
  virtual Result<NcclId> make_id() = 0;
  virtual Result<void> join(const NcclId& id, std::int32_t ranks, std::int32_t rank) = 0;
  // Enqueues both as one.
  struct Ends {
    std::int32_t to = 0, from = 0;
  };
  virtual Result<void> exchange(gpu::DevicePointer sent, std::uint64_t sent_bytes, gpu::DevicePointer received,
                                std::uint64_t received_bytes, Ends ends, gpu::StreamHandle s) = 0;
};

// The folder of libnccl.so.2 beside that Python's torch; empty: there is none. `python`: a program.
std::string nccl_beside_torch(const std::string& python);

}  // namespace attn
