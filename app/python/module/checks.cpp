#include "app/python/module/checks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/python/module/arrays.h"
#include "app/python/module/cpu_run.h"
#include "app/python/module/errors.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/model/inputs/shape_list.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace attn::python {
namespace {

// One problem and its numbers.
struct Case {
  CheckCase check;
  Inputs inputs;
  bool made = false;

  const Inputs& numbers() {
    if (!made) inputs = taken(inputs_of(check));
    made = true;
    return inputs;
  }
};

// Of arrays that came.
Case case_of(const nb::args& args) {
  const Arguments a = arguments_of(args);
  Request r = read(a);
  if (r.processor != Processor::cpu) refuse("q", "is on a GPU; pass it on the CPU");
  if (is_empty(r)) refuse("q", "has nothing to compute");
  Case c;
  c.check.problem = r.problem;
  c.inputs.q = array_of(r, Tensor::q);
  c.inputs.k = array_of(r, Tensor::k);
  c.inputs.v = array_of(r, Tensor::v);
  if (r.tensors[Tensor::bias]) c.inputs.bias = array_of(r, Tensor::bias);
  c.made = true;
  return c;
}

std::vector<CheckCase> listed(const std::string& list, DType type) {
  if (list == "paired") return paired_cases(type);
  if (list == "all") return all_cases(type);
  if (list == "scores") return score_cases(type);
  constexpr std::int64_t kRandom = 40;
  if (list == "random") return random_cases(type, kRandom, 1);
  refuse("shapes",
         fmt::format("'{}' is not a list of shapes; use \"paired\", \"all\", \"scores\" or \"random\"", list));
}

std::vector<Case> cases(const std::string& list, const std::string& dtype) {
  const auto type = dtype_from_name(dtype);
  if (!type) refuse("dtype", fmt::format("'{}' is not supported; use f32, f16 or bf16", dtype));
  std::vector<Case> all;
  for (CheckCase& check : listed(list, *type)) all.push_back({std::move(check), {}});
  return all;
}

nb::dict facts(const Case& c) {
  const Problem& p = c.check.problem;
  nb::dict of;
  of["words"] = describe(c.check);
  of["shape"] = nb::make_tuple(p.B, p.Hq, p.Hkv, p.Lq, p.Lk, p.D, p.Dv);
  of["causal"] = p.mask.causal;
  of["window"] = p.mask.window_left < 0 && p.mask.window_right < 0
                     ? nb::none()
                     : nb::object(nb::make_tuple(p.mask.window_left, p.mask.window_right));
  of["key_lengths"] = p.mask.key_lengths.empty() ? nb::none() : nb::cast(p.mask.key_lengths);
  of["scale"] = p.effective_scale();
  of["usual_scale"] = !p.scale.has_value();
  of["softcap"] = p.softcap ? nb::cast(*p.softcap) : nb::none();
  if (!p.alibi) {
    of["alibi"] = nb::none();
  } else if (p.alibi->empty()) {
    of["alibi"] = true;
  } else {
    of["alibi"] = nb::cast(*p.alibi);
  }
  of["has_bias"] = p.has_bias();
  of["finite"] = c.check.inputs.generator != Generator::non_finite;
  return of;
}

nb::tuple arrays(Case& c) {
  const Inputs& in = c.numbers();
  return nb::make_tuple(array_for_all(in.q), array_for_all(in.k), array_for_all(in.v),
                        in.bias ? array_for_all(*in.bias) : nb::none());
}

Array answer(nb::handle object, const Problem& p, Tensor tensor, std::string_view name) {
  const std::vector<TensorSpec> specs = tensors_of(p);
  TensorSpec spec = *find(specs, tensor);
  const bool rows_alone = tensor == Tensor::lse;
  ArrayView view = view_of(object, name);
  if (view.shape.size() < spec.shape.size()) {
    view = as_bhld(std::move(view), false);
    if (rows_alone) {
      view.shape.erase(view.shape.begin());
      view.strides.erase(view.strides.begin());
    }
  }
  if (view.processor != Processor::cpu) refuse(name, "is on a GPU; pass it on the CPU");
  if (view.shape != spec.shape)
    refuse(name, fmt::format("has shape [{}], but the output has [{}]", fmt::join(view.shape, ", "),
                             fmt::join(spec.shape, ", ")));
  if (view.type != spec.type)
    refuse_type(name, fmt::format("is {}, but the output is {}", words_of(view.type), words_of(spec.type)));
  return array_of(view, spec);
}

// (outcome, reason, error, allowed, first wrong element or None, likely cause)
nb::tuple judged(Case& c, nb::handle out, nb::handle lse) {
  const Problem& p = c.check.problem;
  const Inputs& in = c.numbers();
  Outputs outputs;
  outputs.out = answer(out, p, Tensor::o, "out");
  const bool with_lse = !lse.is_none();
  if (with_lse) outputs.lse = answer(lse, p, Tensor::lse, "lse");
  const Stop stop = stop_on_signals();
  const RowSample sample = choose_rows(p, false);
  Result<ReferenceRows> ref = tl::unexpected(Error{});
  Verdict verdict;
  {
    const nb::gil_scoped_release released;
    ref = reference_rows(p, in, sample.rows, 0, stop);
    if (ref) verdict = with_lse ? judge(p, in, *ref, outputs, sample) : judge_without_lse(p, in, *ref, outputs, sample);
  }
  if (!ref) raise(ref.error());
  std::string place, cause;
  if (outcome_of(verdict) == Outcome::wrong) {
    const double lse_may = with_lse ? verdict.lse_allowed() : 0;
    if (const auto wrong = find_first_wrong_result(p, *ref, outputs, verdict.allowed(), lse_may)) {
      place = place_words(*wrong);
      cause = wrong->cause;
    }
  }
  return nb::make_tuple(std::string(name_of(outcome_of(verdict))), verdict.reason, verdict.error(), verdict.allowed(),
                        place, cause);
}

}  // namespace

void bind_checks(nb::module_& module) {
  nb::class_<Case>(module, "Case")
      .def("facts", &facts)
      .def("arrays", &arrays)
      .def("judged", &judged, "out"_a.none(), "lse"_a.none());
  module.def("cases", &cases);
  module.def("case_of", [](nb::args args) { return case_of(args); });
}

}  // namespace attn::python
