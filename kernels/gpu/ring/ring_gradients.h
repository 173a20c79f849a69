// The turns of a backward over a ring of GPUs: flash_bwd_hopper's own kernels, whose sums leave in fp32.
//
// The rung rounds dK, dV and dQ when its launch ends; in a ring that is too early. So its text is compiled with a few
// lines changed: a block leaves its keys' dK and dV as they were summed, neither scaled nor rounded. Instead of the
// kernel that rounds dQ, another adds it to what the turns before made. All are rounded once, after the last turn.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/launch/parameters.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// Whether its backward can be a turn's.
bool has_ring_gradients(const KernelRow& row);
// The rung's text with the lines changed; refused where they are not in it.
Result<std::string> text_of_turns(std::string_view rung_text);

// Sums of dQ in fp32, [heads, rows, D].
struct RingQuerySums {
  DevicePointer sums = 0;
  std::int64_t rows = 0, first = 0;  // of a head; the first of those that the turn computes
  bool adds = false;                 // to what is there; else it is overwritten
};

// A turn made ready for its buffers, whose d_k and d_v are fp32.
struct RingTurn {
  struct Entry {
    std::string name;
    Function function = nullptr;
    LaunchShape shape;
    Parameters parameters;
  };
  std::vector<Entry> entries;
};

// To rows [first, first + count) of each head of [heads, rows, D] what [heads, count, D] has; all fp32.
struct RingAdd {
  DevicePointer sums = 0, part = 0;
  std::int64_t heads = 0, rows = 0, first = 0, count = 0;
};

// Scaled and in the problem's dtype; a multiple of 8 of them.
struct RingRound {
  DevicePointer sums = 0, to = 0;
  std::int64_t numbers = 0;
  float scale = 1;
};

class RingGradients {
 public:
  // For all turns whose plans differ in rows, keys and mask alone; `plan` is of one. The queue outlives it.
  static Result<RingGradients> make(Queue& queue, const Plan& plan);

  Result<RingTurn> prepare(const Plan& plan, const Buffers& buffers, const RingQuerySums& d_q);
  // Enqueue.
  Result<void> launch(const RingTurn& turn);
  Result<void> add(const RingAdd& a);
  Result<void> round(const RingRound& r);

 private:
  RingGradients(Queue& queue, Queue::Loaded& loaded, std::int64_t columns)
      : queue_(&queue), loaded_(&loaded), columns_(columns) {}
  Result<void> launch(const char* entry, const LaunchShape& shape, const Parameters& parameters);

  Queue* queue_;
  Queue::Loaded* loaded_;  // the queue's
  std::int64_t columns_;
};

}  // namespace attn::gpu
