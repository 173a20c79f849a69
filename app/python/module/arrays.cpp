#include "app/python/module/arrays.h"

#include <cstring>
#include <utility>

#include <nanobind/ndarray.h>

#include "app/python/module/errors.h"
#include "kernels/cpu/aligned.h"

namespace nb = nanobind;

namespace attn::python {

Array array_of(const ArrayView& view, const TensorSpec& spec) {
  Array array(dtype_of(spec.type).value_or(DType::f32), spec.shape);
  gather(view, spec, array.data());
  return array;
}

Array array_of(const Request& request, Tensor tensor) {
  const std::vector<TensorSpec> specs = tensors_of(request.problem);
  return array_of(request.tensors[tensor], *find(specs, tensor));
}

nb::object float_array(std::vector<float> values, const std::vector<std::int64_t>& shape) {
  auto* const kept = new std::vector<float>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy, float>(kept->data(), extents.size(), extents.data(), owner));
}

nb::object widened_array(const Array& array) {
  std::vector<float> values(static_cast<std::size_t>(array.size()));
  array.read(0, array.size(), values.data());
  return float_array(std::move(values), array.shape());
}

nb::object empty_for_all(DType type, const std::vector<std::int64_t>& shape) {
  const std::int64_t count = element_count(shape);
  if (count < 0) refuse("shape", "is too large");
  auto* const memory = new cpu::AlignedBytes(static_cast<std::size_t>(count) * size_of(type));
  const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<cpu::AlignedBytes*>(p); });
  const std::vector<std::size_t> extents(shape.begin(), shape.end());
  using Code = nb::dlpack::dtype_code;
  const Code code = type == DType::bf16 ? Code::Bfloat : Code::Float;
  const nb::dlpack::dtype dtype{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(type)), 1};
  return nb::cast(nb::ndarray<nb::array_api>(memory->data(), extents.size(), extents.data(), owner, nullptr, dtype,
                                             nb::device::cpu::value));
}

nb::object array_for_all(Array array) {
  nb::object object = empty_for_all(array.dtype(), array.shape());
  const auto view = nb::cast<nb::ndarray<>>(object);
  std::memcpy(view.data_handle(), array.data(), array.bytes());
  return object;
}

}  // namespace attn::python
