#include "kernels/base/array.h"

#include <cassert>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace attn {
namespace {

// The caller has checked the size, so a shape that does not fit is a bug, not an input error.
std::size_t checked_bytes(DType dtype, std::int64_t count) {
  const auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / size_of(dtype);
  if (count < 0 || static_cast<std::uint64_t>(count) > limit) throw std::length_error("array shape does not fit");
  return static_cast<std::size_t>(count) * size_of(dtype);
}

std::uint16_t load16(const std::byte* at) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> shape) {
  // An extent of 0 makes the product 0 even where the others overflow: look at all signs first.
  bool zero = false;
  for (std::int64_t extent : shape) {
    if (extent < 0) return -1;
    zero = zero || extent == 0;
  }
  if (zero) return 0;
  std::int64_t count = 1;
  for (std::int64_t extent : shape) {
    if (count > std::numeric_limits<std::int64_t>::max() / extent) return -1;
    count *= extent;
  }
  return count;
}

Array::Array(DType dtype, std::vector<std::int64_t> shape)
    : dtype_(dtype), size_(element_count(shape)), shape_(std::move(shape)), storage_(checked_bytes(dtype, size_)) {}

float Array::get(std::int64_t i) const {
  assert(i >= 0 && i < size_);
  const std::byte* at = storage_.data() + static_cast<std::size_t>(i) * size_of(dtype_);
  switch (dtype_) {
    case DType::f32: {
      float value = 0;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    case DType::f16:
      return f32_from_f16(load16(at));
    case DType::bf16:
      return f32_from_bf16(load16(at));
  }
  return 0;
}

void Array::set(std::int64_t i, float value) {
  assert(i >= 0 && i < size_);
  std::byte* at = storage_.data() + static_cast<std::size_t>(i) * size_of(dtype_);
  if (dtype_ == DType::f32) {
    std::memcpy(at, &value, sizeof value);
    return;
  }
  const std::uint16_t bits = dtype_ == DType::f16 ? f16_from_f32(value) : bf16_from_f32(value);
  std::memcpy(at, &bits, sizeof bits);
}

void Array::read(std::int64_t first, std::int64_t count, float* out) const {
  assert(first >= 0 && count >= 0 && first <= size_ - count);
  if (count == 0) return;
  const std::byte* at = storage_.data() + static_cast<std::size_t>(first) * size_of(dtype_);
  const auto n = static_cast<std::size_t>(count);
  switch (dtype_) {
    case DType::f32:
      std::memcpy(out, at, n * sizeof(float));
      break;
    case DType::f16:
      for (std::size_t i = 0; i < n; ++i) out[i] = f32_from_f16(load16(at + 2 * i));
      break;
    case DType::bf16:
      for (std::size_t i = 0; i < n; ++i) out[i] = f32_from_bf16(load16(at + 2 * i));
      break;
  }
}

Array Array::reshaped(std::vector<std::int64_t> shape) && {
  if (element_count(shape) != size_) throw std::length_error("array has a different number of elements");
  shape_ = std::move(shape);
  return std::move(*this);
}

Array Array::converted(DType to) const {
  if (to == dtype_) return *this;
  Array result(to, shape_);
  for (std::int64_t i = 0; i < size_; ++i) result.set(i, get(i));
  return result;
}

void swap_middle(std::span<const std::byte> from, std::span<std::byte> to, const MiddleAxes& axes) {
  const auto row = static_cast<std::size_t>(axes.row);
  if (row == 0) return;
  const std::byte* source = from.data();
  for (std::int64_t a = 0; a < axes.a; ++a)
    for (std::int64_t x = 0; x < axes.x; ++x)
      for (std::int64_t y = 0; y < axes.y; ++y, source += row)
        std::memcpy(to.data() + static_cast<std::size_t>((a * axes.y + y) * axes.x + x) * row, source, row);
}

Array middle_swapped(const Array& array) {
  const std::vector<std::int64_t>& shape = array.shape();
  Array out(array.dtype(), {shape.at(0), shape.at(2), shape.at(1), shape.at(3)});
  const std::int64_t row = shape[3] * static_cast<std::int64_t>(size_of(array.dtype()));
  swap_middle({array.data(), array.bytes()}, {out.data(), out.bytes()}, {shape[0], shape[1], shape[2], row});
  return out;
}

}  // namespace attn
