// One plan with its tensors on the device: placed once, run as often as is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/gpu/device/driver.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensor_bytes.h"

namespace attn::gpu {

class DeviceRun {
 public:
  // `tensors` are [B, H, L, D]; where the problem has another order they stand in it on the device.
  // Allocates and copies what the plan's problem reads; every output and the workspace are poisoned with NaN. Key
  // lengths and slopes that are given become tensors of the device, else the problem's are sent when it is prepared.
  // `plan` and `queue` outlive the run.
  static Result<DeviceRun> place(Queue& queue, const Plan& plan, const TensorBytes& tensors);

  const Plan& plan() const { return *plan_; }
  // A tensor's memory on the device; null: it has none there.
  const Memory* memory(Tensor t) const { return memories_.has(t) ? &*memories_[t] : nullptr; }
  // Compiles, loads and sends small arrays; again where the queue's recorder has changed since.
  Result<void> prepare();
  // The launches alone, prepared before.
  Result<void> launch();
  // Every output again as it was before the first run.
  Result<void> poison();
  // Prepares where that was not done, poisons what the run writes, runs, waits.
  Result<void> once();
  // Copies the outputs to the host and waits.
  Result<void> fetch(Outputs& out);
  // `e` with kernel and problem, where it does not name them yet.
  Error on(Error e) const;

 private:
  DeviceRun(Queue& queue, const Plan& plan) : queue_(&queue), plan_(&plan) {}
  Result<void> allocate(const TensorBytes& tensors);
  Result<void> allocate_input(const TensorSpec& spec, std::span<const std::byte> bytes);
  Result<void> fill(const Memory& memory);

  Queue* queue_;
  const Plan* plan_;
  ByTensor<std::optional<Memory>> memories_;
  std::optional<Memory> workspace_;
  Buffers buffers_;
  std::optional<Prepared> prepared_;
};

}  // namespace attn::gpu
