// What the kernels of a launch are handed.
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
  // The bytes of one, as the kernel declares it.
  void add_bytes(std::span<const std::byte> bytes) {
    std::vector<Piece>& kept = values_.emplace_back((bytes.size() + sizeof(Piece) - 1) / sizeof(Piece));
    std::memcpy(kept.data(), bytes.data(), bytes.size());
  }
  // Their addresses, as Driver::launch() takes them; valid as long as this object.
  std::vector<const void*> addresses() const {
    std::vector<const void*> all;
    all.reserve(values_.size());
    for (const std::vector<Piece>& value : values_) all.push_back(value.data());
    return all;
  }

 private:
  struct alignas(TensorMap) Piece {  // no parameter asks for more
    std::byte bytes[sizeof(TensorMap)];
  };
  std::vector<std::vector<Piece>> values_;
};

// The parameters of each launch of the plan. `queue` encodes tensor maps (queue.driver().encode); nothing is sent.
using ParametersFn = Result<std::vector<Parameters>> (*)(const Plan& plan, const Buffers& buffers, Queue& queue);

}  // namespace attn::gpu
