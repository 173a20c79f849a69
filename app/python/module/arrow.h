// A table as a stream of Arrow's C data interface, which pandas, polars, DuckDB and others read without pyarrow.
#pragma once

#include <nanobind/nanobind.h>

namespace attn::python {

void bind_arrow(nanobind::module_& module);

}  // namespace attn::python
