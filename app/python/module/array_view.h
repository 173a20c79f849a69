// Somebody else's array, seen where it lies: by DLPack, by the buffer protocol, or by what a torch tensor says.
// Nothing is copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "kernels/base/dtype.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensors.h"

namespace attn::python {

enum class Access : std::uint8_t { read, write };

// Keeps what it sees alive; copied and destroyed with the GIL held. False: no array.
struct ArrayView {
  std::byte* data = nullptr;
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape, strides;  // strides in elements; any sign, 0 where an axis repeats
  Processor processor = Processor::cpu;
  std::int32_t device = 0;  // of the GPU
  nanobind::object owner;
  nanobind::ndarray<nanobind::ro> imported;

  explicit operator bool() const { return given; }
  std::int64_t size() const;
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(size()) * size_of(type); }

  bool given = false;
};

// Raises and names the argument where it is no array of numbers that a kernel knows, or may not be written.
ArrayView view_of(nanobind::handle object, std::string_view argument, Access access = Access::read);

// [B, H, L, D] of what has 2 to 4 axes: those that are missing are 1. `heads_inside`: its axes are [B, L, H, D].
ArrayView as_bhld(ArrayView view, bool heads_inside);

// It lies as the kernel reads it: type, strides and alignment are those of the tensor.
bool lies_as(const ArrayView& view, const TensorSpec& spec);
// Some byte of one is a byte of the other.
bool overlaps(const ArrayView& a, const ArrayView& b);

// Between the host's memory and a dense copy as the tensor says; 16-bit numbers are widened on the way to fp32.
void gather(const ArrayView& from, const TensorSpec& spec, std::byte* to);
void scatter(const std::byte* from, const TensorSpec& spec, const ArrayView& to);

// "float32", as its users call it.
std::string_view words_of(ElementType type);

}  // namespace attn::python
