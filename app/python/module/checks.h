// The rule of correctness for a function of Python's: its problems, their numbers, the verdict on its answers.
#pragma once

#include <nanobind/nanobind.h>

namespace attn::python {

void bind_checks(nanobind::module_& module);

}  // namespace attn::python
