// From a plan to kernels that run: prepare() and launch() of every rung of a GPU. They stand beside the rows, which are
// data and link without a driver. A rung says what parameters its kernels take; the rest is the same for all.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/device/queue.h"
#include "kernels/gpu/device/tensor_map.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

// A kernel's parameters in their order, by value: structs, pointers of the device, tensor maps.
class Parameters {
 public:
  template <class T>
  void add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(Piece));
    std::vector<Piece>& kept = values_.emplace_back((sizeof(T) + sizeof(Piece) - 1) / sizeof(Piece));
    std::memcpy(kept.data(), &value, sizeof(T));
  }
  // Their addresses, as Driver::launch() takes them; valid as long as this object.
  std::vector<const void*> addresses() const;

 private:
  struct alignas(TensorMap) Piece {  // no parameter asks for more
    std::byte bytes[sizeof(TensorMap)];
  };
  std::vector<std::vector<Piece>> values_;
};

// The parameters of each launch of the plan. `queue` encodes tensor maps (queue.driver().encode); nothing is sent.
using ParametersFn = Result<std::vector<Parameters>> (*)(const Plan& plan, const Buffers& buffers, Queue& queue);

// Compiles and loads ROW.cu where that was not done yet, lets its kernels ask for their
// shared memory, sends key lengths and slopes that are no tensors, and keeps the parameters.
Result<Prepared> prepare_with(ParametersFn parameters, const Plan& plan, const Buffers& buffers, const Stream& stream);
// The same by the row's own prepare(), of a rung that has parameters of its own; else of one whose kernels take Args
// (args.h).
Result<Prepared> prepare(const Plan& plan, const Buffers& buffers, const Stream& stream);
// One call of the driver a launch, in the queue's stream and the thread's context.
Result<void> launch(const Prepared& prepared, const Stream& stream);

}  // namespace attn::gpu
