#include "app/python/module/request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/python/module/errors.h"
#include "kernels/ladder.h"
#include "kernels/model/problem/pages.h"
#include "kernels/model/problem/validate.h"

namespace nb = nanobind;

namespace attn::python {
namespace {

std::string repr_of(nb::handle value) {
  return str_of(nb::repr(value));
}

std::string shape_words(const ArrayView& view) {
  return fmt::format("[{}]", fmt::join(view.shape, ", "));
}

bool is_float(ElementType type) {
  return dtype_of(type).has_value();
}

// Q, K or V: an array of 2 to 4 axes.
ArrayView main_tensor(nb::handle object, std::string_view argument) {
  ArrayView view = view_of(object, argument);
  if (!is_float(view.type)) {
    refuse_type(argument, fmt::format("{} is not supported; use float32, float16 or bfloat16", words_of(view.type)));
  }
  if (view.shape.size() < 2 || view.shape.size() > 4) {
    refuse(argument, fmt::format("has shape {}; use [B, H, L, D], [H, L, D] or [L, D]", shape_words(view)));
  }
  return view;
}

void check_beside_q(const ArrayView& view, std::string_view argument, const ArrayView& q) {
  if (view.shape.size() != q.shape.size())
    refuse(argument, fmt::format("has {} axes, but q has {}", view.shape.size(), q.shape.size()));
  if (view.type != q.type)
    refuse_type(argument, fmt::format("is {}, but q is {}", words_of(view.type), words_of(q.type)));
  if (view.processor != q.processor || view.device != q.device) {
    const auto place = [](const ArrayView& a) {
      return a.processor == Processor::cpu ? std::string("the CPU") : fmt::format("GPU {}", a.device);
    };
    refuse(argument, fmt::format("is on {}, but q is on {}", place(view), place(q)));
  }
}

void check_extent(std::string_view argument, std::string_view what, std::int64_t has, std::int64_t wanted,
                  std::string_view whose) {
  if (has != wanted) refuse(argument, fmt::format("has {} {}, but {} has {}", has, what, whose, wanted));
}

// `paged`: K and V are [pages, Hkv, page, D]; Lk is then the table's to say.
void read_shapes(Request& r, bool paged) {
  const ArrayView &q = r.tensors[Tensor::q], &k = r.tensors[Tensor::k], &v = r.tensors[Tensor::v];
  if (paged) {
    check_extent("v", "pages", v.shape[0], k.shape[0], "k");
  } else {
    check_extent("k", "batches", k.shape[0], q.shape[0], "q");
    check_extent("v", "batches", v.shape[0], q.shape[0], "q");
  }
  check_extent("k", "columns (D)", k.shape[3], q.shape[3], "q");
  check_extent("v", "heads", v.shape[1], k.shape[1], "k");
  check_extent("v", "keys", v.shape[2], k.shape[2], "k");
  Problem& p = r.problem;
  p.B = q.shape[0];
  p.Hq = q.shape[1];
  p.Lq = q.shape[2];
  p.D = q.shape[3];
  p.Hkv = k.shape[1];
  p.Lk = k.shape[2];
  p.Dv = v.shape[3];
  p.dtype = *dtype_of(q.type);
  if (p.Hkv > 0 && p.Hq % p.Hkv != 0)
    refuse("k", fmt::format("has {} heads, which do not evenly divide the {} heads of q", p.Hkv, p.Hq));
}

void read_window(nb::handle window, Mask& mask) {
  if (window.is_none()) return;
  if (!PySequence_Check(window.ptr()) || PySequence_Size(window.ptr()) != 2) {
    PyErr_Clear();
    refuse_type("window", "use (left, right), the keys before and after a query's own; None or -1 means unlimited");
  }
  const auto side = [&](Py_ssize_t n) -> std::int64_t {
    const nb::object value = nb::steal(PySequence_GetItem(window.ptr(), n));
    return value.is_none() ? -1 : whole_number(value, "window");
  };
  mask.window_left = side(0);
  mask.window_right = side(1);
  if (mask.window_left < -1 || mask.window_right < -1) refuse("window", "use 0 or more keys, or None for unlimited");
}

// Right-aligned to [B, Hq, Lq, Lk], as broadcasting is; an axis that only repeats counts as 1.
void read_bias(nb::handle object, Request& r) {
  if (object.is_none()) return;
  ArrayView bias = view_of(object, "bias");
  if (!is_float(bias.type)) refuse_type("bias", fmt::format("is {}; use float32", words_of(bias.type)));
  if (bias.shape.size() > 4) refuse("bias", fmt::format("has {} axes; use [B, Hq, Lq, Lk]", bias.shape.size()));
  const Problem& p = r.problem;
  const std::array<std::int64_t, 4> full{p.B, p.Hq, p.Lq, p.Lk};
  const std::string came = shape_words(bias);
  bias = as_bhld(std::move(bias), false);
  for (std::size_t n = 0; n < 4; ++n) {
    if (bias.shape[n] != 1 && bias.shape[n] != full[n])
      refuse("bias", fmt::format("has shape {}, which does not broadcast to [{}] ([B, Hq, Lq, Lk])", came,
                                 fmt::join(full, ", ")));
    if (bias.strides[n] == 0) bias.shape[n] = 1;
  }
  if (bias.processor != r.processor || bias.device != r.device) refuse("bias", "is not on the same device as q");
  r.problem.bias_shape = bias.shape;
  r.tensors[Tensor::bias] = std::move(bias);
}

// Of a list, or of an array, which gives one.
std::vector<double> numbers(nb::handle object, std::string_view argument) {
  nb::object list = nb::borrow(object);
  if (nb::hasattr(object, "tolist")) list = object.attr("tolist")();
  if (!nb::isinstance<nb::list>(list) && !nb::isinstance<nb::tuple>(list)) return {number(list, argument)};
  std::vector<double> values;
  for (const nb::handle item : list) {
    const std::vector<double> inner = numbers(item, argument);
    values.insert(values.end(), inner.begin(), inner.end());
  }
  return values;
}

// An array on the GPU is not read back, for that would wait for all that was asked of the GPU before: its kernel reads
// it. False: it is none.
bool read_on_gpu(nb::handle object, std::string_view argument, Tensor tensor, Request& r) {
  if (r.processor != Processor::gpu || nb::isinstance<nb::list>(object) || !nb::hasattr(object, "__dlpack_device__"))
    return false;
  const nb::object where = object.attr("__dlpack_device__")(), first = where[0];
  const std::int64_t type = whole_number(first, argument);
  if (type != nb::device::cuda::value && type != nb::device::cuda_managed::value) return false;
  ArrayView view = view_of(object, argument);
  if (view.device != r.device) refuse(argument, "is not on the same device as q");
  const bool whole = view.type == ElementType::i32 || view.type == ElementType::i64;
  if (tensor == Tensor::key_lengths && !whole)
    refuse_type(argument, fmt::format("is {}; use int32 or int64", words_of(view.type)));
  if (tensor == Tensor::slopes && whole) refuse_type(argument, fmt::format("is {}; use float32", words_of(view.type)));
  r.tensors[tensor] = std::move(view);
  return true;
}

void read_slopes(nb::handle alibi, Request& r) {
  if (alibi.is_none() || alibi.is(nb::bool_(false))) return;
  if (alibi.is(nb::bool_(true))) {
    r.problem.alibi.emplace();
    return;
  }
  const bool there = read_on_gpu(alibi, "alibi", Tensor::slopes, r);
  const std::vector<double> given = there ? std::vector<double>() : numbers(alibi, "alibi");
  const std::int64_t count = there ? r.tensors[Tensor::slopes].size() : static_cast<std::int64_t>(given.size());
  const std::int64_t all = r.problem.B * r.problem.Hq;
  if (count != r.problem.Hq && count != all) {
    refuse("alibi", fmt::format("has {} slopes; use True, or one per query head ({}), or one per batch and head ({})",
                                count, r.problem.Hq, all));
  }
  if (there) {
    // Any but the usual ones, which would be no tensor of their own.
    r.problem.alibi.emplace(static_cast<std::size_t>(count), 0.0F);
    return;
  }
  std::vector<float> slopes;
  for (const double slope : given) slopes.push_back(static_cast<float>(slope));
  if (!std::ranges::all_of(slopes, [](float s) { return std::isfinite(s); }))
    refuse("alibi", "has a slope that is not finite");
  r.problem.alibi = kept_slopes(std::move(slopes), r.problem.Hq);
}

// [B, pages of a batch] whole numbers. The longest key length is Lk, or all keys that the table has room for; columns
// beyond it are not read.
void read_page_table(nb::handle table, nb::handle lengths, Request& r) {
  const ArrayView came = view_of(table, "page_table");
  Problem& p = r.problem;
  if (came.type != ElementType::i32) refuse_type("page_table", fmt::format("is {}; use int32", words_of(came.type)));
  if (came.shape.size() != 2 || came.shape[0] != p.B)
    refuse("page_table",
           fmt::format("has shape {}; use [B, pages of a batch], here [{}, ...]", shape_words(came), p.B));
  if (r.axes != 4) refuse("page_table", "needs q, k and v with 4 axes, k and v as [pages, Hkv, page, D]");
  if (came.processor != r.processor || came.device != r.device) refuse("page_table", "is not on the same device as q");
  p.storage = {p.Lk, r.tensors[Tensor::k].shape[0]};
  p.Lk = came.shape[1] * p.storage.page;
  if (!lengths.is_none() && !r.tensors[Tensor::key_lengths]) {
    double longest = 0;
    for (const double length : numbers(lengths, "key_lengths")) longest = std::max(longest, length);
    if (longest > static_cast<double>(p.Lk))
      refuse("key_lengths", fmt::format("{} exceeds the {} keys that fit in the page table", longest, p.Lk));
    p.Lk = static_cast<std::int64_t>(longest);
  }
}

// Once the key lengths are known: the entries that they reach. On a GPU the numbers stay there.
void read_pages(nb::handle table, Request& r) {
  const Problem& p = r.problem;
  const std::int64_t columns = pages_of_batch(p);
  ArrayView view = view_of(table, "page_table");
  if (r.processor == Processor::gpu) {
    r.tensors[Tensor::page_table] = std::move(view);
    return;
  }
  const std::vector<double> all = numbers(table, "page_table");
  std::vector<std::int32_t> kept;
  for (std::int64_t b = 0; b < p.B; ++b)
    for (std::int64_t n = 0; n < columns; ++n)
      kept.push_back(static_cast<std::int32_t>(all[static_cast<std::size_t>(b * view.shape[1] + n)]));
  if (const auto good = check_page_table(p, kept, "the numbers"); !good) refuse("page_table", good.error().message);
  view.shape[1] = columns;
  r.pages = std::make_shared<const std::vector<std::int32_t>>(std::move(kept));
  view.strides = {columns, 1};
  // Read alone: the view of a tensor that is `in` is never written.
  view.data = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(r.pages->data()));
  r.tensors[Tensor::page_table] = std::move(view);
}

void read_key_lengths(nb::handle lengths, Request& r) {
  if (lengths.is_none()) return;
  if (const ArrayView& there = r.tensors[Tensor::key_lengths]) {
    if (there.size() != r.problem.B)
      refuse("key_lengths", fmt::format("has {} lengths for {} batches", there.size(), r.problem.B));
    r.problem.mask.key_lengths.assign(static_cast<std::size_t>(r.problem.B), r.problem.Lk);
    return;
  }
  const std::vector<double> given = numbers(lengths, "key_lengths");
  if (static_cast<std::int64_t>(given.size()) != r.problem.B)
    refuse("key_lengths", fmt::format("has {} lengths for {} batches", given.size(), r.problem.B));
  for (const double length : given) {
    if (!(length >= 0 && length <= static_cast<double>(r.problem.Lk)) || length != std::floor(length))
      refuse("key_lengths",
             fmt::format("{} is out of range; use 0 to {}, the number of keys in k", length, r.problem.Lk));
    r.problem.mask.key_lengths.push_back(static_cast<std::int64_t>(length));
  }
}

// What is wrong with a problem, behind the argument without which that is right; a shape is q's, but Dv is v's.
void check_problem(const Problem& p) {
  const Result<void> good = validate(p);
  if (good) return;
  const std::string& words = good.error().message;
  const auto right_without = [&](auto&& drop) {
    Problem other = p;
    drop(other);
    const Result<void> others = validate(other);
    return others || others.error().message != words;
  };
  std::string_view argument = "q";
  if (right_without([](Problem& o) { o.scale.reset(); })) argument = "scale";
  if (right_without([](Problem& o) { o.softcap.reset(); })) argument = "softcap";
  if (right_without([](Problem& o) { o.Dv = 1; })) argument = "v";
  refuse(argument, words);
}

void read_options(nb::handle options, Options& into) {
  if (options.is_none()) return;
  if (!nb::isinstance<nb::dict>(options)) refuse_type("options", "use a dict of names and values");
  for (const auto& [key, value] : nb::borrow<nb::dict>(options)) {
    const std::string name = text(key, "options");
    const auto found = find_option(name);
    if (!found) refuse("options", found.error().message);
    const Option* const option = *found;
    if (PyLong_Check(value.ptr()) && !option->is_choice()) {
      const std::int64_t chosen_value = whole_number(value, name);
      if (chosen_value < 1) refuse(name, fmt::format("{} is out of range; use 1 or more", chosen_value));
      choose(into, *option, chosen_value);
    } else {
      const bool is_truth = PyBool_Check(value.ptr()) != 0;
      const auto read_value =
          value_from_text(*option, is_truth ? value.is(nb::bool_(true)) ? "true" : "false" : str_of(value));
      if (!read_value) refuse("options", read_value.error().message);
      choose(into, *option, *read_value);
    }
  }
}

}  // namespace

double number(nb::handle value, std::string_view argument) {
  const double x = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_type(argument, fmt::format("{} is not a number", repr_of(value)));
  }
  return x;
}

std::int64_t whole_number(nb::handle value, std::string_view argument) {
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  const long long x = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_type(argument, fmt::format("{} is not an integer", repr_of(value)));
  }
  return x;
}

bool truth(nb::handle value, std::string_view argument) {
  if (value.is(nb::bool_(true))) return true;
  if (value.is(nb::bool_(false)) || value.is_none()) return false;
  refuse_type(argument, fmt::format("{} is not a Boolean; use True or False", repr_of(value)));
}

std::string text(nb::handle value, std::string_view argument) {
  if (PyUnicode_Check(value.ptr()) == 0) refuse_type(argument, fmt::format("{} is not a string", repr_of(value)));
  return str_of(value);
}

Arguments arguments_of(const nb::args& args) {
  if (args.size() < kArguments) refuse_type("arguments", "are too few");
  return {args[0], args[1], args[2], args[3],  args[4],  args[5],  args[6],
          args[7], args[8], args[9], args[10], args[11], args[12], {}};
}

Request read(const Arguments& a) {
  Request r;
  const std::string layout = text(a.layout, "layout");
  if (layout != "bhld" && layout != "blhd")
    refuse("layout", fmt::format("unknown layout '{}'; use \"bhld\" or \"blhd\"", layout));
  r.heads_inside = layout == "blhd";
  ArrayView q = main_tensor(a.q, "q"), k = main_tensor(a.k, "k"), v = main_tensor(a.v, "v");
  check_beside_q(k, "k", q);
  check_beside_q(v, "v", q);
  r.axes = q.shape.size();
  r.processor = q.processor;
  r.device = q.device;
  r.tensors[Tensor::q] = as_bhld(std::move(q), r.heads_inside);
  r.tensors[Tensor::k] = as_bhld(std::move(k), r.heads_inside);
  r.tensors[Tensor::v] = as_bhld(std::move(v), r.heads_inside);
  const bool paged = a.page_table.is_valid() && !a.page_table.is_none();
  read_shapes(r, paged);
  if (!a.key_lengths.is_none()) read_on_gpu(a.key_lengths, "key_lengths", Tensor::key_lengths, r);
  if (paged) read_page_table(a.page_table, a.key_lengths, r);
  r.problem.mask.causal = truth(a.causal, "causal");
  read_window(a.window, r.problem.mask);
  if (!a.scale.is_none()) r.problem.scale = number(a.scale, "scale");
  if (!a.softcap.is_none()) r.problem.softcap = number(a.softcap, "softcap");
  read_key_lengths(a.key_lengths, r);
  read_slopes(a.alibi, r);
  read_bias(a.bias, r);
  read_options(a.options, r.options);
  if (is_empty(r)) return r;
  check_problem(r.problem);
  if (paged) read_pages(a.page_table, r);
  return r;
}

bool is_empty(const Request& r) {
  const Problem& p = r.problem;
  return p.B == 0 || p.Hq == 0 || p.Lq == 0 || p.Dv == 0 || p.Lk == 0 || p.Hkv == 0;
}

std::vector<std::int64_t> shape_of_answer(const Request& r, std::int64_t dims) {
  const Problem& p = r.problem;
  std::vector<std::int64_t> shape{p.B, p.Hq, p.Lq};
  if (dims >= 0) {
    if (r.heads_inside && r.axes >= 3) std::swap(shape[1], shape[2]);
    shape.push_back(dims);
  }
  shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(4 - r.axes));
  return shape;
}

Choice choose(std::string_view kernel, const Request& request, const Device& device) {
  Choice choice;
  if (kernel != "auto") {
    const auto found = find_kernel(kernel);
    if (!found) refuse("kernel", found.error().message);
    choice.row = *found;
    if (choice.row->processor != request.processor) {
      refuse("kernel", fmt::format("{} runs on the {}, but q is on the {}", kernel,
                                   choice.row->processor == Processor::cpu ? "CPU" : "GPU",
                                   request.processor == Processor::cpu ? "CPU" : "GPU"));
    }
    if (auto good = choice.row->supports(*choice.row, request.problem, request.options, device); !good)
      refuse("kernel", good.error().message);
    choice.why = "as requested";
    return choice;
  }
  choice.row = best_rung(request.processor, request.problem, request.options, device);
  if (choice.row == nullptr) choice.row = highest_rung(request.processor, request.problem, request.options, device);
  if (choice.row == nullptr)
    refuse("kernel",
           fmt::format("no rung supports {} on {} ({})", describe(request.problem), device.name, device.arch));
  choice.why = fmt::format("the highest rung for {} and this shape on {}", name_of(request.problem.dtype), device.arch);
  return choice;
}

}  // namespace attn::python
