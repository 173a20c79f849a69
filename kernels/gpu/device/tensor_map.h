// A tensor in the device's memory as the hardware that copies tiles knows it (TMA, compute capability 9.0 and newer): a
// kernel takes the map as a `const __grid_constant__` parameter. CUDA driver API, cuTensorMapEncodeTiled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/base/dtype.h"
#include "kernels/base/result.h"

namespace attn::gpu {

using DevicePointer = std::uint64_t;

constexpr std::size_t kMaxTensorRank = 5;

// How 16-byte pieces change places within this many bytes of a row in shared memory, so that a column meets no bank
// twice.
enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };
// Read from memory into the L2 cache at once.
enum class L2Promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
// What a tile holds where it leaves the tensor.
enum class OutsideTensor : std::uint8_t { zero, nan };

// What is copied at once, and of what. Axes from the innermost, whose elements lie side by side.
struct TensorTiles {
  DevicePointer address = 0;  // a multiple of 16
  DType dtype = DType::f16;
  std::uint32_t rank = 0;                                   // 1 to 5
  std::array<std::uint64_t, kMaxTensorRank> extents{};      // elements, 1 to 2^32
  std::array<std::uint64_t, kMaxTensorRank - 1> strides{};  // bytes from one to the next along axis 1, 2 ...
  std::array<std::uint32_t, kMaxTensorRank> box{};          // elements of a tile, 1 to 256
  std::array<std::uint32_t, kMaxTensorRank> element_strides{1, 1, 1, 1, 1};  // 1 to 8: each n-th element along the axis
  Swizzle swizzle = Swizzle::none;
  L2Promotion promotion = L2Promotion::none;
  OutsideTensor outside = OutsideTensor::zero;
};

// Within what the hardware takes, or which value is not and what would do.
Result<void> validate(const TensorTiles& t);

// CUDA's CUtensorMap, opaque. Up to CUDA 12 it asks for 64 bytes, since for 128.
struct alignas(128) TensorMap {
  std::array<std::uint64_t, 16> opaque{};
};

}  // namespace attn::gpu
