// attention(), prepare() and the backward, as Python calls them.
#pragma once

#include <nanobind/nanobind.h>

namespace attn::python {

void bind_attention(nanobind::module_& module);

}  // namespace attn::python
