// A dense array in C order: the only tensor type that crosses between rooms. It owns its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/dtype.h"

namespace attn {

// Number of elements of `shape`, or -1 where it does not fit 63 bits or an extent is negative.
std::int64_t element_count(std::span<const std::int64_t> shape);

class Array {
 public:
  Array() = default;
  // Zero-filled. The caller has checked the size (see kernels/model/fits.h): this allocates.
  Array(DType dtype, std::vector<std::int64_t> shape);

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t extent(std::size_t axis) const { return shape_.at(axis); }
  std::int64_t size() const { return size_; }
  std::size_t bytes() const { return storage_.size(); }
  bool empty() const { return size_ == 0; }

  std::byte* data() { return storage_.data(); }
  const std::byte* data() const { return storage_.data(); }

  // Element `i` of the flat array, widened exactly; set() rounds to nearest even.
  float get(std::int64_t i) const;
  void set(std::int64_t i, float value);

  // Copies `count` elements from `first`, widened to fp32.
  void read(std::int64_t first, std::int64_t count, float* out) const;

  // The same elements under another shape of as many; no copy.
  Array reshaped(std::vector<std::int64_t> shape) &&;

  // The same numbers in another dtype (rounded to nearest even).
  Array converted(DType to) const;

  bool operator==(const Array&) const = default;  // bitwise: NaN equals the same NaN

 private:
  DType dtype_ = DType::f32;
  std::int64_t size_ = 0;
  std::vector<std::int64_t> shape_;
  std::vector<std::byte> storage_;
};

// [A, X, Y, row] as [A, Y, X, row] in C order, `row` in bytes: [B, H, L, D] to [B, L, H, D] and back. Both spans have
// all the bytes and do not overlap.
struct MiddleAxes {
  std::int64_t a = 1, x = 1, y = 1, row = 1;
};
void swap_middle(std::span<const std::byte> from, std::span<std::byte> to, const MiddleAxes& axes);
// The same of an array with four axes.
Array middle_swapped(const Array& array);

}  // namespace attn
