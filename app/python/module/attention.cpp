#include "app/python/module/attention.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/python/module/arrays.h"
#include "app/python/module/cpu_run.h"
#include "app/python/module/errors.h"
#include "app/python/module/gpu_run.h"
#include "app/python/module/plans.h"
#include "app/python/module/request.h"
#include "kernels/ladder.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace attn::python {
namespace {

nb::tuple python_shape(const std::vector<std::int64_t>& shape) {
  nb::list extents;
  for (const std::int64_t extent : shape) extents.append(extent);
  return nb::tuple(extents);
}

// What a call did: the kernel, why it was taken, its threads, which arguments were copied.
nb::tuple account(const Choice& choice, std::int32_t threads, const std::vector<std::string>& copied) {
  return nb::make_tuple(std::string(choice.row->id), choice.why, threads, nb::cast(copied));
}

// An answer's array that the caller gave: its shape and type are checked, and that it lies apart from what is read.
ArrayView given_out(nb::handle out, const Request& r, Tensor tensor, std::int64_t dims) {
  const std::string name = tensor == Tensor::o ? "out" : std::string(name_of(tensor));
  ArrayView view = view_of(out, name, Access::write);
  const std::vector<std::int64_t> wanted = shape_of_answer(r, dims);
  if (view.shape != wanted)
    refuse(name, fmt::format("has shape [{}], but the output has [{}]", fmt::join(view.shape, ", "),
                             fmt::join(wanted, ", ")));
  const ElementType type = tensor == Tensor::lse ? ElementType::f32 : element_type_of(r.problem.dtype);
  if (view.type != type)
    refuse_type(name, fmt::format("is {}, but the output is {}", words_of(view.type), words_of(type)));
  if (view.processor != r.processor || view.device != r.device) refuse(name, "is not on the same device as q");
  view = as_bhld(std::move(view), r.heads_inside && dims >= 0);
  for (std::size_t n = 0; n < view.shape.size() && view.size() != 0; ++n)
    if (view.shape[n] > 1 && view.strides[n] == 0) refuse(name, "repeats its memory along an axis; pass a whole array");
  for (const auto& [t, other] : {std::pair{Tensor::q, "q"}, {Tensor::k, "k"}, {Tensor::v, "v"}, {Tensor::bias, "bias"}})
    if (r.tensors[t] && overlaps(view, r.tensors[t]))
      refuse(name, fmt::format("shares memory with {}, which is read while this array is written", other));
  return view;
}

// The answer of a problem without queries or keys: O = 0 and LSE = -inf.
void fill_empty(const ArrayView& out, const ArrayView& lse) {
  if (out.processor != Processor::cpu) {
    if (out.size() != 0) refuse("k", "has no keys; on a GPU, pass at least one");
    return;
  }
  std::memset(out.data, 0, static_cast<std::size_t>(out.bytes()));
  std::fill_n(reinterpret_cast<float*>(lse.data), lse.size(), -std::numeric_limits<float>::infinity());
}

// A library whose arrays on a GPU can be answered: it has an allocator and a stream to be asked for.
void check_home(nb::handle home) {
  if (const nb::object reason = home.attr("not_on_gpu"); !reason.is_none()) refuse("q", str_of(reason));
}

// What a backward is given and gives besides; a forward has none of them.
struct Gradients {
  nb::object d_q, d_k, d_v;
};

// What the call is of, by its tensors.
LibraryArrays arrays_of(const Arguments& a, nb::handle out, nb::handle lse, nb::handle d_out = {},
                        const Gradients& to = {}) {
  LibraryArrays all;
  all[Tensor::q] = a.q;
  all[Tensor::k] = a.k;
  all[Tensor::v] = a.v;
  all[Tensor::bias] = a.bias;
  all[Tensor::key_lengths] = a.key_lengths;
  all[Tensor::slopes] = a.alibi;
  all[Tensor::page_table] = a.page_table;
  all[Tensor::o] = out;
  all[Tensor::lse] = lse;
  all[Tensor::d_o] = d_out;
  all[Tensor::d_q] = to.d_q;
  all[Tensor::d_k] = to.d_k;
  all[Tensor::d_v] = to.d_v;
  return all;
}

// Ready for as many launches as are asked; it keeps its arrays alive.
class Ready {
 public:
  // How often it will be launched: a call that is made once prepares nothing.
  enum class Launches : std::uint8_t { once, many };
  Ready(const Ready&) = delete;  // its run points to its request
  Ready& operator=(const Ready&) = delete;
  Ready(const Arguments& a, nb::handle out, nb::handle lse, nb::handle home, Launches launches)
      : request_(read(a)), home_(nb::borrow(home)), launches_(launches) {
    if (request_.processor == Processor::gpu) check_home(home);
    answer_ = out.is_none()
                  ? home.attr("empty")(python_shape(shape_of_answer(request_, request_.problem.Dv)), a.q, "out")
                  : nb::borrow(out);
    lse_ = lse.is_none() ? home.attr("empty")(python_shape(shape_of_answer(request_, -1)), a.q, "float32")
                         : nb::borrow(lse);
    ArrayView out_view = given_out(answer_, request_, Tensor::o, request_.problem.Dv);
    ArrayView lse_view = given_out(lse_, request_, Tensor::lse, -1);
    // LSE is a tensor of three axes to a kernel.
    lse_view.shape.erase(lse_view.shape.begin());
    lse_view.strides.erase(lse_view.strides.begin());
    if (is_empty(request_)) {
      fill_empty(out_view, lse_view);
      account_ = nb::make_tuple("none", "there is nothing to compute", 0, nb::list());
      return;
    }
    request_.tensors[Tensor::o] = std::move(out_view);
    request_.tensors[Tensor::lse] = std::move(lse_view);
    const std::string kernel = text(a.kernel, "kernel");
    if (request_.processor == Processor::cpu) {
      on_cpu_ = std::make_unique<CpuRun>(request_, kernel);
      account_ = account(on_cpu_->choice(), on_cpu_->threads(), on_cpu_->copied());
    } else {
      on_gpu_ = std::make_unique<GpuRun>(request_, kernel, home, arrays_of(a, answer_, lse_));
      if (launches == Launches::many) on_gpu_->prepare(home);
      account_ = account(on_gpu_->choice(), 0, on_gpu_->copied());
    }
  }

  void launch() {
    if (on_cpu_) {
      const Stop stop = stop_on_signals();
      Result<void> done;
      {
        const nb::gil_scoped_release released;
        done = on_cpu_->launch(stop);
      }
      taken(std::move(done));
    } else if (on_gpu_ && launches_ == Launches::once) {
      on_gpu_->launch_once(home_);
    } else if (on_gpu_) {
      on_gpu_->launch(home_);
    }
  }
  nb::object answer() const { return answer_; }
  nb::object lse() const { return lse_; }
  nb::object account_of() const { return account_; }

 private:
  Request request_;
  nb::object home_, answer_, lse_, account_;
  Launches launches_;
  std::unique_ptr<CpuRun> on_cpu_;
  std::unique_ptr<GpuRun> on_gpu_;
};

// `out` and `home` follow the arguments, then a table of pages.
Arguments with_pages_of(const nb::args& args) {
  Arguments a = arguments_of(args);
  if (args.size() > kArguments + 2) a.page_table = nb::handle(args[kArguments + 2]);
  return a;
}

nb::tuple attention(const nb::args& args) {
  Ready ready(with_pages_of(args), args[kArguments], nb::none(), args[kArguments + 1], Ready::Launches::once);
  ready.launch();
  return nb::make_tuple(ready.answer(), ready.lse(), ready.account_of());
}

// ---- backward

// A gradient lies as what it is of.
ArrayView gradient_view(nb::handle array, const Request& r, std::string_view name) {
  return as_bhld(view_of(array, name, Access::write), r.heads_inside);
}

ArrayView read_beside(nb::handle array, const Request& r, std::string_view name, std::int64_t dims) {
  ArrayView view = view_of(array, name);
  if (view.shape != shape_of_answer(r, dims))
    refuse(name, fmt::format("has shape [{}], but that of the forward pass has [{}]", fmt::join(view.shape, ", "),
                             fmt::join(shape_of_answer(r, dims), ", ")));
  const ElementType type = dims < 0 ? ElementType::f32 : element_type_of(r.problem.dtype);
  if (view.type != type) refuse_type(name, fmt::format("is {}; use {}", words_of(view.type), words_of(type)));
  if (view.processor != r.processor) refuse(name, "is not on the same device as q");
  view = as_bhld(std::move(view), r.heads_inside && dims >= 0);
  if (dims < 0) {
    view.shape.erase(view.shape.begin());
    view.strides.erase(view.strides.begin());
  }
  return view;
}

// The gradients of a problem without queries or keys.
void clear_gradients(Request& r) {
  for (const Tensor t : {Tensor::d_q, Tensor::d_k, Tensor::d_v}) {
    const ArrayView& view = r.tensors[t];
    if (view.size() == 0) continue;
    if (r.processor != Processor::cpu)
      refuse("k", "has no keys, or q has no queries; on a GPU, pass at least one of each, or detach it");
    std::memset(view.data, 0, static_cast<std::size_t>(view.bytes()));
  }
}

nb::tuple backward(const Arguments& a, nb::handle out, nb::handle lse, nb::handle d_out, nb::handle home) {
  Request r = read(a);
  if (r.processor == Processor::gpu) check_home(home);
  const auto like = [&](nb::handle array) { return home.attr("empty")(array.attr("shape"), array, "out"); };
  Gradients to{like(a.q), like(a.k), like(a.v)};
  r.tensors[Tensor::o] = read_beside(out, r, "out", r.problem.Dv);
  r.tensors[Tensor::lse] = read_beside(lse, r, "lse", -1);
  r.tensors[Tensor::d_o] = read_beside(d_out, r, "d_out", r.problem.Dv);
  r.tensors[Tensor::d_q] = gradient_view(to.d_q, r, "d_q");
  r.tensors[Tensor::d_k] = gradient_view(to.d_k, r, "d_k");
  r.tensors[Tensor::d_v] = gradient_view(to.d_v, r, "d_v");
  if (is_empty(r)) {
    clear_gradients(r);
    return nb::make_tuple(to.d_q, to.d_k, to.d_v, nb::make_tuple("none", "there is nothing to compute", 0, nb::list()));
  }
  r.problem.pass = Pass::backward;
  const std::string kernel = text(a.kernel, "kernel");
  if (r.processor == Processor::gpu) {
    GpuRun run(r, kernel, home, arrays_of(a, out, lse, d_out, to));
    run.launch_once(home);
    return nb::make_tuple(to.d_q, to.d_k, to.d_v, account(run.choice(), 0, run.copied()));
  }
  const CpuRun run(r, kernel);
  const Stop stop = stop_on_signals();
  Result<void> done;
  {
    const nb::gil_scoped_release released;
    done = run.launch(stop);
  }
  taken(std::move(done));
  return nb::make_tuple(to.d_q, to.d_k, to.d_v, account(run.choice(), run.threads(), run.copied()));
}

// ---- what can be asked of the table

nb::list kernels() {
  nb::list rows;
  for (const KernelRow* row : ladder()) {
    nb::dict of;
    of["id"] = std::string(row->id);
    of["rung"] = std::string(row->rung);
    of["device"] = row->processor == Processor::cpu ? "cpu" : "gpu";
    of["pass"] = std::string(name_of(row->passes.front()));
    nb::list dtypes;
    for (const DType type : row->dtypes) dtypes.append(std::string(words_of(element_type_of(type))));
    of["dtypes"] = nb::tuple(dtypes);
    of["options"] = declared_words(*row);
    of["what"] = std::string(row->what);
    of["source"] = std::string(row->source);
    of["records"] = row->record != nullptr;
    rows.append(of);
  }
  return rows;
}

// Memory for libraries whose arrays cannot be written.
nb::object empty_array(const std::vector<std::int64_t>& shape, const std::string& dtype) {
  const auto type = dtype_from_name(dtype);
  if (!type) refuse("dtype", fmt::format("'{}' is not supported", dtype));
  return empty_for_all(*type, shape);
}

}  // namespace

void bind_attention(nb::module_& module) {
  // q, k, v, kernel, causal, window, bias, softcap, alibi, scale, key_lengths, layout, options: as Arguments has them.
  nb::class_<Ready>(module, "Ready")
      .def("__init__",
           [](Ready* self, const nb::args& args) {
             new (self)
                 Ready(with_pages_of(args), args[kArguments], nb::none(), args[kArguments + 1], Ready::Launches::many);
           })
      .def("launch", &Ready::launch)
      .def_prop_ro("answer", &Ready::answer)
      .def_prop_ro("lse", &Ready::lse)
      .def_prop_ro("account", &Ready::account_of);
  module.def("attention", [](nb::args args) { return attention(args); });
  module.def("backward", [](nb::args args) {
    return backward(arguments_of(args), args[kArguments], args[kArguments + 1], args[kArguments + 2],
                    args[kArguments + 3]);
  });
  module.def("kernels", &kernels);
  module.def("empty", &empty_array);
  // Plans made so far, and how many are kept.
  module.def("plans", [] { return nb::make_tuple(KnownPlans::all().made(), KnownPlans::all().kept()); });
  module.def("forget_workers", &Workers::forget);
}

}  // namespace attn::python
