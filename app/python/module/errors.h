// Errors as values become exceptions of Python, here alone.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nanobind/nanobind.h>

#include "kernels/base/result.h"

namespace attn::python {

// ValueError for what the caller gave, KeyboardInterrupt for what was stopped, RuntimeError else.
[[noreturn]] void raise(const Error& error);
// "NAME: WORDS" as a ValueError, or as a TypeError.
[[noreturn]] void refuse(std::string_view argument, std::string_view words);
[[noreturn]] void refuse_type(std::string_view argument, std::string_view words);

// str() of anything.
std::string str_of(nanobind::handle object);

template <class T>
T taken(Result<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace attn::python
