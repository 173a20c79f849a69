// Arrays of the kernels' library and Python's, one made of the other.
#pragma once

#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>

#include "app/python/module/request.h"
#include "kernels/base/array.h"

namespace attn::python {

// A dense copy of what came.
Array array_of(const Request& request, Tensor tensor);
Array array_of(const ArrayView& view, const TensorSpec& spec);

// NumPy's, of float32.
nanobind::object float_array(std::vector<float> values, const std::vector<std::int64_t>& shape);
nanobind::object widened_array(const Array& array);
// In its own dtype, for whatever library takes DLPack.
nanobind::object array_for_all(Array array);
// 64-byte aligned memory that is not filled, as the one before.
nanobind::object empty_for_all(DType type, const std::vector<std::int64_t>& shape);

}  // namespace attn::python
