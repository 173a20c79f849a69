#include "app/python/module/recordings.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/python/module/arrays.h"
#include "app/python/module/cpu_run.h"
#include "app/python/module/errors.h"
#include "app/python/module/request.h"
#include "kernels/judge/first_wrong/first_wrong.h"
#include "kernels/judge/verdict.h"
#include "kernels/ladder.h"
#include "kernels/model/order_row.h"
#include "kernels/museum/museum.h"
#include "kernels/museum/right_run.h"
#include "kernels/museum/run_verdict.h"
#include "kernels/recording/file/recording_file.h"
#include "kernels/recording/recording.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace attn::python {
namespace {

// The rung whose run is recorded: one of the ladder's or of the museum's; "auto" as attention() chooses.
const KernelRow& recorded_row(const std::string& kernel, const Request& r) {
  if (kernel == "auto") return *choose(kernel, r, this_cpu()).row;
  const auto row = find_kernel_or_piece(kernel);
  if (!row) refuse("kernel", row.error().message);
  if (!takes_pass(**row, Pass::forward))
    refuse("kernel", fmt::format("{} is a backward kernel; use `attnscope step --pass backward --attn FILE` to record "
                                 "it and load(FILE) to open the recording",
                                 kernel));
  if ((*row)->record == nullptr) {
    refuse("kernel",
           fmt::format(
               "{} is not recorded here{}", kernel,
               (*row)->processor == Processor::gpu
                   ? "; use `attnscope step --device gpu --attn FILE` to record it and load(FILE) to open the recording"
                   : ""));
  }
  return **row;
}

Recording record(const nb::args& args) {
  const Arguments a = arguments_of(args);
  const Request r = read(a);
  if (r.processor != Processor::cpu) refuse("q", "is on a GPU, but recordings run on the CPU: pass q.cpu()");
  if (is_empty(r)) refuse("q", "has nothing to compute");
  const KernelRow& row = recorded_row(text(a.kernel, "kernel"), r);
  Inputs in;
  in.q = array_of(r, Tensor::q);
  in.k = array_of(r, Tensor::k);
  in.v = array_of(r, Tensor::v);
  if (r.tensors[Tensor::bias]) in.bias = array_of(r, Tensor::bias);
  const Stop stop = stop_on_signals();
  Result<Recording> recording = tl::unexpected(Error{});
  {
    const nb::gil_scoped_release released;
    recording = row.record(row, r.problem, r.options, in, stop);
  }
  return taken(std::move(recording));
}

// None: the pass has no such answer.
nb::object answer_of(const Array& array) {
  return array.empty() ? nb::none() : widened_array(array);
}

EventIndex checked_step(const Recording& rec, std::int64_t step) {
  if (step < 0 || step >= static_cast<std::int64_t>(rec.events.size()))
    refuse("step", fmt::format("there is no step {}; the recording has {} steps", step, rec.events.size()));
  return static_cast<EventIndex>(step);
}

Slot checked_slot(const std::string& name) {
  const auto slot = slot_named(name);
  if (!slot) {
    std::string names;
    for (std::size_t n = 0; n < slot_count(); ++n)
      names += fmt::format("{}{}", n == 0 ? "" : ", ", name_of(static_cast<Slot>(n)));
    refuse("name", fmt::format("'{}' is not a tensor of a recording; use one of {}", name, names));
  }
  return *slot;
}

nb::dict step_facts(const Recording& rec, std::int64_t step) {
  const EventIndex e = checked_step(rec, step);
  const Event& event = rec.events[e];
  nb::dict facts;
  facts["phase"] = std::string(name_of(event.id.phase));
  facts["letter"] = std::string(phase_name(event.id.phase).letter);
  facts["b"] = event.id.b;
  facts["h"] = event.id.h;
  facts["i"] = event.id.i;
  facts["j"] = event.id.j;
  const auto sum = [](const Event& of) {
    return std::accumulate(of.hbm_bytes.begin(), of.hbm_bytes.end(), std::uint64_t{0});
  };
  facts["bytes"] = sum(event) - (e == 0 ? 0 : sum(rec.events[e - 1]));
  facts["bytes_so_far"] = sum(event);
  nb::list live, made;
  for (std::size_t n = 0; n < slot_count(); ++n) {
    const auto slot = static_cast<Slot>(n);
    const VersionId v = rec.after(e, slot);
    if (v == kNoVersion) continue;
    live.append(std::string(name_of(slot)));
    if (rec.version(v).made_by == e) made.append(std::string(name_of(slot)));
  }
  facts["live"] = live;
  facts["made"] = made;
  return facts;
}

// A tile as it lies in the recording, which the array keeps alive; None where the step has none.
nb::object tile(const nb::object& self, std::int64_t step, const std::string& name) {
  const Recording& rec = nb::cast<const Recording&>(self);
  const VersionId v = rec.after(checked_step(rec, step), checked_slot(name));
  if (v == kNoVersion) return nb::none();
  const Version& version = rec.version(v);
  const std::size_t shape[] = {static_cast<std::size_t>(version.rows), static_cast<std::size_t>(version.cols)};
  using Tile = nb::ndarray<nb::numpy, const float, nb::ndim<2>>;
  nb::dict holds;
  holds["scaled"] = version.holds.scaled;
  holds["base2"] = version.holds.base2;
  holds["normalised"] = version.holds.normalised;
  holds["masked"] = version.holds.masked;
  holds["partial"] = version.holds.partial;
  return nb::make_tuple(nb::cast(Tile(rec.values(v).data(), 2, shape, self)), version.first_row, version.first_col,
                        holds);
}

std::int64_t columns_of(const SlotRow& slot, const Problem& p) {
  switch (slot.columns) {
    case SlotColumns::one:
      return 1;
    case SlotColumns::head:
      return p.D;
    case SlotColumns::value_head:
      return p.Dv;
    default:
      return p.Lk;
  }
}

// The whole of a tensor of one head after a step; NaN where no step has computed it yet.
nb::object matrix(const Recording& rec, const std::string& name, std::int64_t step, std::int64_t b, std::int64_t h) {
  const EventIndex last = checked_step(rec, step);
  const Problem& p = rec.problem;
  if (b < 0 || b >= p.B) refuse("b", fmt::format("{} is out of range for {} batches", b, p.B));
  if (h < 0 || h >= p.Hq) refuse("h", fmt::format("{} is out of range for {} heads", h, p.Hq));
  const Slot slot = made_as(checked_slot(name));
  const SlotRow& row = slot_row(slot);
  const bool of_keys = row.rows == SlotRows::keys;
  const std::int64_t rows = of_keys ? p.Lk : p.Lq, columns = columns_of(row, p);
  std::vector<float> whole(static_cast<std::size_t>(rows * columns), std::numeric_limits<float>::quiet_NaN());
  for (const Version& version : rec.versions) {
    if (version.slot != slot || version.made_by > last) continue;
    const EventId& id = rec.events[version.made_by].id;
    if (id.b != b || (of_keys ? p.kv_head(id.h) != p.kv_head(h) : id.h != h)) continue;
    for (std::int64_t r = 0; r < version.rows; ++r) {
      const float* const from = rec.arena.data() + version.offset + r * version.cols;
      const std::int64_t count = std::min<std::int64_t>(version.cols, columns - version.first_col);
      std::copy_n(from, count, whole.data() + (version.first_row + r) * columns + version.first_col);
    }
  }
  return float_array(std::move(whole), {rows, columns});
}

nb::object wrong_facts(const std::optional<FirstWrong>& found) {
  if (!found) return nb::none();
  nb::dict facts;
  facts["step"] = found->event;
  facts["phase"] = std::string(name_of(found->id.phase));
  facts["tensor"] = std::string(name_of(found->slot));
  facts["b"] = found->id.b;
  facts["h"] = found->id.h;
  facts["row"] = found->row;
  facts["column"] = found->col;
  facts["recorded"] = found->recorded;
  facts["right"] = found->right;
  facts["place"] = place_words(*found);
  facts["spread"] = spread_words(*found);
  facts["cause"] = found->cause;
  return facts;
}

nb::object first_wrong(const Recording& rec, nb::handle other) {
  const Recording* const right = other.is_none() ? nullptr : &nb::cast<const Recording&>(other);
  const Stop stop = stop_on_signals();
  Result<std::optional<FirstWrong>> found;
  {
    const nb::gil_scoped_release released;
    found = right == nullptr ? first_wrong_of(rec, stop) : find_first_wrong(rec, *right, stop);
  }
  return wrong_facts(taken(std::move(found)));
}

nb::tuple verdict(const Recording& rec) {
  const Stop stop = stop_on_signals();
  Result<Verdict> verdict = tl::unexpected(Error{});
  {
    const nb::gil_scoped_release released;
    verdict = verdict_of(rec, stop);
  }
  const Verdict v = taken(std::move(verdict));
  return nb::make_tuple(std::string(name_of(outcome_of(v))), v.reason, v.error(), v.allowed());
}

}  // namespace

void bind_recordings(nb::module_& module) {
  nb::class_<Recording>(module, "Recording")
      .def("__len__", [](const Recording& rec) { return rec.events.size(); })
      .def_prop_ro("kernel", [](const Recording& rec) { return rec.kernel; })
      .def_prop_ro("device", [](const Recording& rec) { return rec.device; })
      .def_prop_ro("order", [](const Recording& rec) { return std::string(name_of(rec.order)); })
      .def_prop_ro("problem", [](const Recording& rec) { return describe(rec.problem); })
      .def_prop_ro("tile_size", [](const Recording& rec) { return nb::make_tuple(rec.options.br, rec.options.bc); })
      .def_prop_ro("nbytes", [](const Recording& rec) { return rec.bytes(); })
      .def_prop_ro("out", [](const Recording& rec) { return answer_of(rec.outputs.out); })
      .def_prop_ro("lse", [](const Recording& rec) { return answer_of(rec.outputs.lse); })
      .def("step", &step_facts)
      .def("tile",
           [](const nb::object& self, std::int64_t step, const std::string& name) { return tile(self, step, name); })
      .def("matrix", &matrix)
      .def("first_wrong", &first_wrong, "other"_a.none())
      .def("verdict", &verdict)
      .def("write", [](const Recording& rec, const std::string& file) { taken(write_recording(file, rec)); });
  module.def("record", [](nb::args args) { return record(args); });
  module.def("load", [](const std::string& file) { return taken(read_recording(file)); });
}

}  // namespace attn::python
