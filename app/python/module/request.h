// What a call from Python asks for: its arguments as a problem, options and tensors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "app/python/module/array_view.h"
#include "kernels/model/kernel.h"

namespace attn::python {

// As they came. None: left out.
struct Arguments {
  nanobind::handle q, k, v;
  nanobind::handle kernel, causal, window, bias, softcap, alibi, scale, key_lengths, layout, options;
  nanobind::handle page_table = {};  // of a forward alone; null: left out
};

// The first of what Python gives, positional, for a call costs less so; the names are in attnscope/_attention.py.
constexpr std::size_t kArguments = 13;
Arguments arguments_of(const nanobind::args& args);

struct Request {
  Problem problem;
  Options options;
  ByTensor<ArrayView> tensors;  // [B, H, L, D]; those that came
  std::size_t axes = 4;         // of q as it came
  bool heads_inside = false;    // [B, L, H, D]
  Processor processor = Processor::cpu;
  std::int32_t device = 0;
  std::shared_ptr<const std::vector<std::int32_t>> pages = {};  // on the CPU the table's numbers, which tensors name
};

// Raises and names the argument that does not fit. Q, K and V may have extents of 0 (see is_empty); the problem of such
// a request is no problem of a kernel.
Request read(const Arguments& arguments);
// Nothing is to be computed: there is no query, or no key.
bool is_empty(const Request& request);

// The shape of an answer of `dims` columns as the caller knows its axes; below 0: one number a row, [B, H, L] in either
// layout.
std::vector<std::int64_t> shape_of_answer(const Request& request, std::int64_t dims);

// A number or a text of Python's; the error names the argument.
double number(nanobind::handle value, std::string_view argument);
std::int64_t whole_number(nanobind::handle value, std::string_view argument);
bool truth(nanobind::handle value, std::string_view argument);
std::string text(nanobind::handle value, std::string_view argument);

// The row of a name, or for "auto" the highest rung that takes the problem on the device; `why` says so.
struct Choice {
  const KernelRow* row = nullptr;
  std::string why;
};
Choice choose(std::string_view kernel, const Request& request, const Device& device);

}  // namespace attn::python
