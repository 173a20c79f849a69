// The kernel that merges what a turn of a ring of GPUs made with what the turns before made, in fp32, by the function
// that merges everywhere (kernels/arithmetic/merge.h). The last merge writes O in its final type.
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"
#include "kernels/base/result.h"
#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"

namespace attn::gpu {

// O [rows, heads, columns] and LSE [heads, rows]; the part has rows [first, first + count) of them.
struct RingMerge {
  DevicePointer o = 0, lse = 0;            // fp32: of the turns before, and of both afterwards
  DevicePointer part_o = 0, part_lse = 0;  // fp32: of this turn
  DevicePointer final_o = 0;               // 16-bit; 0: O stays where it is, and rows beside the part are not touched
  std::int64_t rows = 0, heads = 0, columns = 0, first = 0, count = 0;
};

class RingMerger {
 public:
  // `type`: f16 or bf16, of the final O. `columns` are a multiple of 8.
  static Result<RingMerger> make(Queue& queue, DType type);
  RingMerger(RingMerger&& other) noexcept;
  RingMerger(const RingMerger&) = delete;
  RingMerger& operator=(const RingMerger&) = delete;
  RingMerger& operator=(RingMerger&&) = delete;
  ~RingMerger();
  // Enqueues.
  Result<void> merge(const RingMerge& m);

 private:
  explicit RingMerger(Queue& queue) : queue_(&queue) {}
  Queue* queue_;
  Module module_ = nullptr;
  Function merge_ = nullptr;
};

}  // namespace attn::gpu
