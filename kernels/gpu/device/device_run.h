// One plan with its tensors on the device: placed once, run as often as is asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// Q, K, V and the bias as they lie in the host's memory. No bias: empty.
using TensorBytes = std::array<std::span<const std::byte>, 4>;
TensorBytes tensor_bytes_of(const Inputs& in);
// The same from one block in which they follow each other. Refused where the block's size is not theirs.
Result<TensorBytes> split_tensors(const Problem& p, std::span<const std::byte> block);

// Outputs of the problem's shape, not filled.
Outputs empty_outputs(const Problem& p);

class DeviceRun {
 public:
  // Allocates and copies. Outputs and workspace are poisoned with NaN. `plan` and `queue` outlive the run.
  static Result<DeviceRun> place(Queue& queue, const Plan& plan, const TensorBytes& tensors);

  const Plan& plan() const { return *plan_; }
  // Compiles, loads and sends small arrays; again where the queue's recorder has changed since.
  Result<void> prepare();
  // The launches alone, prepared before.
  Result<void> launch();
  // Prepares where that was not done, poisons what the run writes, runs, waits.
  Result<void> once();
  // Copies the outputs to the host and waits.
  Result<void> fetch(Outputs& out);
  // `e` with kernel and problem, where it does not name them yet.
  Error on(Error e) const;

 private:
  DeviceRun(Queue& queue, const Plan& plan) : queue_(&queue), plan_(&plan) {}
  Result<void> allocate(const TensorBytes& tensors);
  Result<void> poison(std::size_t part, std::uint64_t bytes);

  Queue* queue_;
  const Plan* plan_;
  std::vector<Memory> memories_;  // q, k, v, bias, out, lse, workspace
  Buffers buffers_;
  std::optional<Prepared> prepared_;
};

}  // namespace attn::gpu
