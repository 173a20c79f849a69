#include "app/python/module/errors.h"

#include <stdexcept>

#include <fmt/format.h>
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace attn::python {

void raise(const Error& error) {
  switch (error.kind) {
    case ErrorKind::bad_input:
      throw nb::value_error(error.message.c_str());
    case ErrorKind::cancelled:
      // The handler of a signal has said already what stopped it.
      if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_KeyboardInterrupt, error.message.c_str());
      throw nb::python_error();
    default:
      throw std::runtime_error(error.message);
  }
}

std::string str_of(nb::handle object) {
  const nb::object words = nb::steal(PyObject_Str(object.ptr()));
  const char* const text = words.is_valid() ? PyUnicode_AsUTF8AndSize(words.ptr(), nullptr) : nullptr;
  PyErr_Clear();
  return text == nullptr ? "?" : text;
}

void refuse(std::string_view argument, std::string_view words) {
  throw nb::value_error(fmt::format("{}: {}", argument, words).c_str());
}

void refuse_type(std::string_view argument, std::string_view words) {
  throw nb::type_error(fmt::format("{}: {}", argument, words).c_str());
}

}  // namespace attn::python
