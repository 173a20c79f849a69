// The module attnscope._core. What its users see is the package beside it, which names arguments and documents them.
#include <nanobind/nanobind.h>

#include "app/python/module/arrow.h"
#include "app/python/module/attention.h"
#include "app/python/module/checks.h"
#include "app/python/module/recordings.h"

NB_MODULE(_core, module) {
  // Modules of a library are torn down in no order when Python ends.
  nanobind::set_leak_warnings(false);
  attn::python::bind_attention(module);
  attn::python::bind_recordings(module);
  attn::python::bind_checks(module);
  attn::python::bind_arrow(module);
}
