#include "app/python/module/array_view.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "app/python/module/errors.h"

namespace nb = nanobind;

namespace attn::python {
namespace {

constexpr std::array<std::string_view, 5> kWords{"float32", "float16", "bfloat16", "int32", "int64"};

std::optional<ElementType> type_of(nb::dlpack::dtype d) {
  using Code = nb::dlpack::dtype_code;
  const auto is = [&](Code code, int bits) {
    return d.lanes == 1 && d.code == static_cast<std::uint8_t>(code) && d.bits == bits;
  };
  if (is(Code::Float, 32)) return ElementType::f32;
  if (is(Code::Float, 16)) return ElementType::f16;
  if (is(Code::Bfloat, 16)) return ElementType::bf16;
  if (is(Code::Int, 32)) return ElementType::i32;
  if (is(Code::Int, 64)) return ElementType::i64;
  return std::nullopt;
}

std::string words_of(nb::dlpack::dtype d) {
  constexpr std::array<const char*, 7> kKinds{"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  return fmt::format("{}{}", d.code < kKinds.size() ? kKinds[d.code] : "type ", d.bits);
}

[[noreturn]] void refuse_dtype(std::string_view argument, std::string_view dtype) {
  refuse_type(argument, fmt::format("{} is not supported; use float32, float16 or bfloat16", dtype));
}

// ---- torch: asking the tensor takes a tenth of what __dlpack__() does, and its table of functions a tenth of that

// DLPackExchangeAPI of DLPack 1, as torch 2.10 and later have it.
struct DlpackFunctions {
  std::uint32_t major = 0, minor = 0;
  const void* older = nullptr;
  void *allocate = nullptr, *from_object = nullptr, *to_object = nullptr;
  // Borrows; 0, or a Python error.
  int (*view)(void* object, nb::dlpack::dltensor* into) = nullptr;
};

struct TorchTypes {
  nb::object tensor, f32, f16, bf16, i32, i64;
  const DlpackFunctions* functions = nullptr;  // null: this torch has none
};

const DlpackFunctions* functions_of(nb::handle type) {
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  if (capsule.is_none()) return nullptr;
  const auto* all = static_cast<const DlpackFunctions*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (all == nullptr) PyErr_Clear();
  return all != nullptr && all->major == 1 ? all : nullptr;
}

// Those of the torch that is loaded; kept for the life of the process, as torch is.
const TorchTypes& torch_types() {
  static const TorchTypes* const types = [] {
    const nb::module_ torch = nb::module_::import_("torch");
    auto* const made = new TorchTypes{torch.attr("Tensor"),   torch.attr("float32"), torch.attr("float16"),
                                      torch.attr("bfloat16"), torch.attr("int32"),   torch.attr("int64")};
    made->functions = functions_of(made->tensor);
    return made;
  }();
  return *types;
}

// Nothing is imported: who hands in a tensor has done so.
bool is_torch(nb::handle object) {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  static PyObject* const plain = PyUnicode_InternFromString("torch");
  static PyObject* const parameter = PyUnicode_InternFromString("torch.nn.parameter");
  static PyObject* const name = PyUnicode_InternFromString("__module__");
  const nb::object module = nb::steal(PyObject_GetAttr(type, name));
  if (!module.is_valid()) {
    PyErr_Clear();
    return false;
  }
  for (PyObject* torch : {plain, parameter})
    if (PyUnicode_Check(module.ptr()) && PyUnicode_Compare(module.ptr(), torch) == 0)
      return PyType_IsSubtype(Py_TYPE(object.ptr()), reinterpret_cast<PyTypeObject*>(torch_types().tensor.ptr())) != 0;
  return false;
}

void whole_numbers(nb::handle sequence, std::vector<std::int64_t>& into) {
  const auto count = PySequence_Size(sequence.ptr());
  into.resize(static_cast<std::size_t>(std::max<Py_ssize_t>(count, 0)));
  for (std::size_t n = 0; n < into.size(); ++n) {
    const nb::object item = nb::steal(PySequence_GetItem(sequence.ptr(), static_cast<Py_ssize_t>(n)));
    into[n] = PyLong_AsLongLong(item.ptr());
  }
}

// False: torch has no table, or what it says is not all that is to be known; asking the tensor says why.
bool viewed_at_once(nb::handle tensor, ArrayView& view) {
  const DlpackFunctions* const functions = torch_types().functions;
  if (functions == nullptr) return false;
  nb::dlpack::dltensor seen;
  if (functions->view(tensor.ptr(), &seen) != 0) {
    PyErr_Clear();
    return false;
  }
  const auto type = type_of(seen.dtype);
  const bool on_gpu = seen.device.device_type == nb::device::cuda::value;
  if (!type || (!on_gpu && seen.device.device_type != nb::device::cpu::value)) return false;
  view.type = *type;
  view.data = static_cast<std::byte*>(seen.data) + seen.byte_offset;
  view.shape.assign(seen.shape, seen.shape + seen.ndim);
  view.strides.assign(seen.strides, seen.strides + seen.ndim);
  if (seen.data == nullptr && view.size() != 0) return false;
  view.processor = on_gpu ? Processor::gpu : Processor::cpu;
  view.device = on_gpu ? seen.device.device_id : 0;
  view.owner = nb::borrow(tensor);
  return true;
}

// What lies in its memory is the negative of its numbers: the imaginary part of a conjugate.
void refuse_negated(nb::handle tensor, std::string_view argument) {
  if (tensor.attr("is_neg")().is(nb::bool_(true))) refuse(argument, "is a negated view; pass resolve_neg() of it");
}

ArrayView torch_view(nb::handle tensor, std::string_view argument) {
  refuse_negated(tensor, argument);
  ArrayView view;
  if (viewed_at_once(tensor, view)) return view;
  view = {};
  const TorchTypes& types = torch_types();
  const nb::object dtype = tensor.attr("dtype");
  const std::array<const nb::object*, 5> known{&types.f32, &types.f16, &types.bf16, &types.i32, &types.i64};
  const auto at = std::ranges::find_if(known, [&](const nb::object* t) { return t->is(dtype); });
  if (at == known.end()) refuse_dtype(argument, str_of(dtype));
  view.type = static_cast<ElementType>(at - known.begin());
  if (!nb::cast<bool>(tensor.attr("is_cpu"))) {
    if (!nb::cast<bool>(tensor.attr("is_cuda")))
      refuse(argument, fmt::format("is on {}; kernels here run on a CPU or a CUDA GPU", str_of(tensor.attr("device"))));
    view.processor = Processor::gpu;
    view.device = nb::cast<std::int32_t>(tensor.attr("get_device")());
  }
  try {
    view.data = reinterpret_cast<std::byte*>(nb::cast<std::uintptr_t>(tensor.attr("data_ptr")()));
    whole_numbers(tensor.attr("shape"), view.shape);
    whole_numbers(tensor.attr("stride")(), view.strides);
  } catch (const nb::python_error& error) {
    refuse_type(argument, fmt::format("is a tensor that does not own its memory ({})", error.what()));
  }
  if (view.data == nullptr && view.size() != 0) refuse_type(argument, "is a tensor without memory (meta or fake)");
  view.owner = nb::borrow(tensor);
  return view;
}

// ---- all others

// NumPy's bfloat16 is a type of the package ml_dtypes, which neither DLPack nor the buffer protocol of NumPy knows.
nb::object as_bits_of_bf16(nb::handle object) {
  const nb::object dtype = nb::getattr(object, "dtype", nb::none());
  if (dtype.is_none() || !nb::hasattr(dtype, "name") || !nb::hasattr(object, "view")) return {};
  if (str_of(dtype.attr("name")) != "bfloat16") return {};
  return object.attr("view")("uint16");
}

template <class Array>
void take_array(ArrayView& view, const Array& array) {
  view.data = static_cast<std::byte*>(array.data_handle()) + array.byte_offset();
  view.shape.assign(array.shape_ptr(), array.shape_ptr() + array.ndim());
  view.strides.assign(array.stride_ptr(), array.stride_ptr() + array.ndim());
  view.imported = nb::ndarray<nb::ro>(array);
}

// CuPy's arrays are read on its current stream. Asked as usual, it would let the legacy default stream wait for that
// one, which ends a capture; -1 asks it to let nobody wait.
nb::object as_capsule(nb::handle object) {
  const nb::object module = nb::getattr(object.type(), "__module__", nb::none());
  if (module.is_none() || str_of(module) != "cupy") return nb::borrow(object);
  try {
    return object.attr("__dlpack__")(nb::arg("stream") = -1);
  } catch (const nb::python_error&) {
    return nb::borrow(object);  // of a type that DLPack does not know: it is refused by its name
  }
}

bool imported(nb::handle given, Access access, ArrayView& view, nb::dlpack::dtype& dtype) {
  const nb::object object = as_capsule(given);
  if (access == Access::write) {
    nb::ndarray<> array;
    if (!nb::try_cast(object, array, false)) return false;
    take_array(view, array);
    dtype = array.dtype();
  } else {
    nb::ndarray<nb::ro> array;
    if (!nb::try_cast(object, array, false)) return false;
    take_array(view, array);
    dtype = array.dtype();
  }
  return true;
}

ArrayView imported_view(nb::handle object, std::string_view argument, Access access) {
  ArrayView view;
  nb::dlpack::dtype dtype;
  if (!imported(object, access, view, dtype)) {
    PyErr_Clear();
    if (const nb::object bits = as_bits_of_bf16(object); bits.is_valid()) {
      view = ArrayView{};
      if (imported(bits, access, view, dtype)) {
        view.type = ElementType::bf16;
        return view;
      }
      PyErr_Clear();
    }
    ArrayView readable;
    if (access == Access::write && imported(object, Access::read, readable, dtype))
      refuse(argument, "is read-only; pass a writable array");
    PyErr_Clear();
    const nb::object own = nb::getattr(object, "dtype", nb::none());
    if (!own.is_none()) refuse_dtype(argument, str_of(own));
    refuse_type(argument, fmt::format("a {} is not an array; it has neither __dlpack__ nor a buffer of numbers",
                                      str_of(object.type().attr("__name__"))));
  }
  const auto type = type_of(dtype);
  if (!type) refuse_dtype(argument, words_of(dtype));
  view.type = *type;
  const int where = view.imported.device_type();
  if (where == nb::device::cuda::value || where == nb::device::cuda_managed::value) {
    view.processor = Processor::gpu;
    view.device = view.imported.device_id();
  } else if (where != nb::device::cpu::value && where != nb::device::cuda_host::value) {
    refuse(argument, fmt::format("is on a device of DLPack's type {}; kernels here run on a CPU or a CUDA GPU", where));
  }
  return view;
}

// ---- copies

// Calls row(offset in the view, first element in the dense copy, count) for each run along the last axis.
void for_rows(const ArrayView& view, const TensorSpec& spec,
              const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& row) {
  const std::size_t axes = view.shape.size();
  if (view.size() == 0) return;
  std::vector<std::int64_t> at(axes, 0);
  for (;;) {
    std::int64_t from = 0, to = 0;
    for (std::size_t n = 0; n + 1 < axes; ++n) {
      from += at[n] * view.strides[n];
      to += at[n] * spec.strides[n];
    }
    row(from, to, view.shape[axes - 1]);
    std::size_t n = axes - 1;
    while (n > 0 && ++at[n - 1] == view.shape[n - 1]) at[--n] = 0;
    if (n == 0) return;
  }
}

float widened(ElementType type, const std::byte* from) {
  if (type == ElementType::f32) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return type == ElementType::f16 ? f32_from_f16(bits) : f32_from_bf16(bits);
}

}  // namespace

std::string_view words_of(ElementType type) {
  return kWords[static_cast<std::size_t>(type)];
}

std::int64_t ArrayView::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

ArrayView view_of(nb::handle object, std::string_view argument, Access access) {
  ArrayView view = is_torch(object) ? torch_view(object, argument) : imported_view(object, argument, access);
  view.given = true;
  return view;
}

ArrayView as_bhld(ArrayView view, bool heads_inside) {
  if (heads_inside && view.shape.size() >= 3) {
    const std::size_t last = view.shape.size() - 2;
    std::swap(view.shape[last - 1], view.shape[last]);
    std::swap(view.strides[last - 1], view.strides[last]);
  }
  while (view.shape.size() < 4) {
    view.shape.insert(view.shape.begin(), 1);
    view.strides.insert(view.strides.begin(), 0);
  }
  return view;
}

bool lies_as(const ArrayView& view, const TensorSpec& spec) {
  if (view.type != spec.type || view.shape.size() != spec.strides.size()) return false;
  if (reinterpret_cast<std::uintptr_t>(view.data) % size_of(view.type) != 0) return false;
  for (std::size_t n = 0; n < view.shape.size(); ++n)
    if (view.shape[n] != 1 && view.strides[n] != spec.strides[n]) return false;
  return true;
}

bool overlaps(const ArrayView& a, const ArrayView& b) {
  const auto range = [](const ArrayView& view) {
    std::int64_t low = 0, high = 0;
    for (std::size_t n = 0; n < view.shape.size(); ++n) {
      const std::int64_t reach = (view.shape[n] - 1) * view.strides[n];
      (reach < 0 ? low : high) += reach;
    }
    const auto bytes = static_cast<std::int64_t>(size_of(view.type));
    return std::pair(view.data + low * bytes, view.data + (high + 1) * bytes);
  };
  if (a.processor != b.processor || a.device != b.device || a.size() == 0 || b.size() == 0) return false;
  const auto [a0, a1] = range(a);
  const auto [b0, b1] = range(b);
  return std::less<>()(a0, b1) && std::less<>()(b0, a1);
}

void gather(const ArrayView& from, const TensorSpec& spec, std::byte* to) {
  const std::size_t size = size_of(from.type), out = size_of(spec.type);
  const std::int64_t step = from.strides.back();
  for_rows(from, spec, [&](std::int64_t first, std::int64_t place, std::int64_t count) {
    const std::byte* source = from.data + first * static_cast<std::int64_t>(size);
    std::byte* target = to + place * static_cast<std::int64_t>(out);
    if (from.type == spec.type && step == 1) {
      std::memcpy(target, source, static_cast<std::size_t>(count) * size);
      return;
    }
    for (std::int64_t n = 0; n < count; ++n, target += out) {
      const std::byte* element = source + n * step * static_cast<std::int64_t>(size);
      if (from.type == spec.type) {
        std::memcpy(target, element, size);
      } else {
        const float value = widened(from.type, element);
        std::memcpy(target, &value, sizeof value);
      }
    }
  });
}

void scatter(const std::byte* from, const TensorSpec& spec, const ArrayView& to) {
  const auto size = static_cast<std::int64_t>(size_of(to.type));
  const std::int64_t step = to.strides.back();
  for_rows(to, spec, [&](std::int64_t first, std::int64_t place, std::int64_t count) {
    for (std::int64_t n = 0; n < count; ++n)
      std::memcpy(to.data + (first + n * step) * size, from + (place + n) * size, static_cast<std::size_t>(size));
  });
}

}  // namespace attn::python
