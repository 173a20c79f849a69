// A recorded run, as Python walks it.
#pragma once

#include <nanobind/nanobind.h>

namespace attn::python {

void bind_recordings(nanobind::module_& module);

}  // namespace attn::python
