#include "kernels/gpu/device/tensor_map.h"

#include "kernels/base/text.h"

namespace attn::gpu {
namespace {

constexpr std::uint64_t kUnit = 16;  // bytes: of the address, of strides, of a tile's rows
constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 32, kMaxStride = std::uint64_t{1} << 40;
constexpr std::uint32_t kMaxBox = 256, kMaxElementStride = 8;

// Bytes of a tile's row that a swizzle takes at most; 0: any.
std::uint64_t row_limit(Swizzle s) {
  switch (s) {
    case Swizzle::none:
      return 0;
    case Swizzle::bytes_32:
      return 32;
    case Swizzle::bytes_64:
      return 64;
    case Swizzle::bytes_128:
      return 128;
  }
  return 0;
}

Result<void> check_axis(const TensorTiles& t, std::size_t axis) {
  if (t.extents[axis] < 1 || t.extents[axis] > kMaxExtent)
    return bad_input(phrase("A tensor map's extent {} is {}; use 1 to 2^32.", axis, t.extents[axis]));
  if (t.box[axis] < 1 || t.box[axis] > kMaxBox)
    return bad_input(
        phrase("A tile has {} elements along axis {}; a tensor map allows 1 to {}.", t.box[axis], axis, kMaxBox));
  if (t.element_strides[axis] < 1 || t.element_strides[axis] > kMaxElementStride)
    return bad_input(phrase("A tensor map's element stride along axis {} is {}; use 1 to {}.", axis,
                            t.element_strides[axis], kMaxElementStride));
  if (axis == 0) return ok();
  const std::uint64_t stride = t.strides[axis - 1];
  if (stride % kUnit != 0 || stride == 0 || stride >= kMaxStride)
    return bad_input(phrase("A tensor map's stride along axis {} is {} bytes; use multiples of {} below 2^40.", axis,
                            stride, kUnit));
  return ok();
}

}  // namespace

Result<void> validate(const TensorTiles& t) {
  if (t.rank < 1 || t.rank > kMaxTensorRank)
    return bad_input(phrase("A tensor map has 1 to {} axes, not {}.", kMaxTensorRank, t.rank));
  if (t.address == 0 || t.address % kUnit != 0)
    return bad_input(phrase("A tensor map's address is {:#x}; use a nonzero multiple of {}.", t.address, kUnit));
  for (std::size_t axis = 0; axis < t.rank; ++axis)
    if (auto good = check_axis(t, axis); !good) return good;
  const std::uint64_t row = t.box[0] * size_of(t.dtype);
  if (row % kUnit != 0)
    return bad_input(phrase("A tile's row is {} bytes; a tensor map needs multiples of {}.", row, kUnit));
  if (const std::uint64_t limit = row_limit(t.swizzle); limit > 0 && row > limit)
    return bad_input(
        phrase("A tile's row is {} bytes; with a swizzle of {} bytes, the limit is {}.", row, limit, limit));
  return ok();
}

}  // namespace attn::gpu
