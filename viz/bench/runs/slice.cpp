#include "viz/bench/runs/slice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "kernels/model/kernel.h"
#include "kernels/model/problem/pages.h"
#include "profiling/figures/baseline.h"
#include "profiling/figures/metrics.h"
#include "profiling/spec/sweep_point.h"
#include "viz/bench/runs/row_filter.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

// What must be equal for two rows to stand on one axis: the problem without the axis.
std::string family(const Axis& a, Problem p) {
  if (const ProblemAxis* axis = kind_of(a).problem) axis->drop(p);
  if (p.has_bias()) p.bias_shape.assign(1, 1);                           // its extents follow the axis
  if (p.storage.kind() == Storage::paged) p = paged_anew(std::move(p));  // so does the pool
  return describe(p);
}

std::string family(const Axis& a, const Measurement& m) {
  return family(a, m.key.problem);
}

// How near a row's problem is to the one that is set up: by type, head dimension and mask, which the panel's fields
// choose among loaded rows as well. The axis itself parts nothing.
int nearness(const Axis& a, Problem p, Problem wanted) {
  if (const ProblemAxis* axis = kind_of(a).problem) {
    axis->drop(p);
    axis->drop(wanted);
  }
  return (p.dtype == wanted.dtype ? 1 : 0) + (p.D == wanted.D && p.Dv == wanted.Dv ? 1 : 0) +
         (p.mask == wanted.mask ? 1 : 0);
}

// And for two rows to stand on one line: a CPU and a GPU may share a chart, two GPUs or two L2 states may not.
std::string origin_of(const Measurement& m) {
  return fmt::format("{}|{}", m.key.device, name_of(m.key.l2));
}

// The last of each place's rows says which device is shown. A refused row is of none in particular.
std::map<Processor, std::string> shown_origins(const Axis& a, std::span<const Measurement> rows,
                                               const std::string& chosen) {
  std::map<Processor, std::string> shown;
  std::map<Processor, bool> of_done;
  for (const Measurement& m : rows) {
    if (family(a, m) != chosen) continue;
    const bool done = m.state == RowState::done;
    if (!done && of_done[m.processor]) continue;
    shown[m.processor] = origin_of(m);
    of_done[m.processor] = done;
  }
  return shown;
}

// Whether rows of one kernel differ along it. Kernels whose usual tiles differ make no axis.
bool differ_along(const Axis& a, std::span<const Measurement> rows) {
  std::map<std::string_view, std::int64_t> first;
  return std::any_of(rows.begin(), rows.end(), [&](const Measurement& m) {
    const std::int64_t value = axis_value(a, m);
    return value > 0 && first.try_emplace(m.key.kernel, value).first->second != value;
  });
}

// The axis along which rows differ: the wanted one first, since with kept tokens both L and B do.
Axis axis_of(const Axis& wanted, std::span<const Measurement> rows) {
  if (differ_along(wanted, rows)) return wanted;
  return varied_axis(rows).value_or(wanted);
}

// What follows the axis, where something does: with kept tokens B shrinks as L grows.
std::string rule_of(const Axis& a, std::span<const Measurement* const> rows) {
  std::int64_t tokens = 0, least = 0, most = 0;
  bool kept = true;
  for (const Measurement* m : rows) {
    const Problem& p = m->key.problem;
    least = least == 0 ? p.B : std::min(least, p.B);
    most = std::max(most, p.B);
    kept = kept && (tokens == 0 || tokens == p.B * p.Lq);
    tokens = p.B * p.Lq;
  }
  const ProblemAxis* axis = kind_of(a).problem;
  if (axis == nullptr || !axis->keeps_tokens || least == most) return {};
  return kept ? fmt::format("B·L = {}", tokens) : phrase("B from {} to {}", most, least);
}

}  // namespace

std::optional<Axis> varied_axis(std::span<const Measurement> rows) {
  for (const Axis& a : all_axes())
    if (differ_along(a, rows)) return a;
  return std::nullopt;
}

std::int64_t axis_value(const Axis& a, const Measurement& m) {
  return axis_value(a, m.key.kernel, m.key.problem, m.key.options);
}

BenchSlice slice_rows(const SweepSpec& sweep, std::span<const Measurement> rows, bool loaded, const BenchSlice* as,
                      std::string_view kernel) {
  BenchSlice slice;
  slice.loaded = loaded;
  slice.axis = as != nullptr ? as->axis : rows.empty() ? sweep.axis : axis_of(sweep.axis, rows);
  if (rows.empty()) {
    slice.values = sweep.values;
    std::sort(slice.values.begin(), slice.values.end());
    return slice;
  }
  SweepSpec along = sweep;
  along.axis = slice.axis;
  const std::int64_t any = sweep.values.empty() ? 1 : sweep.values.back();
  const Problem planned = problem_at(along, any);
  // The sweep's problem where it has rows; else, of the nearest, that of the kernel's last row, else the last row's.
  std::string chosen = family(slice.axis, planned);
  slice.of_this_sweep =
      std::any_of(rows.begin(), rows.end(), [&](const Measurement& m) { return family(slice.axis, m) == chosen; });
  const bool follows =
      as != nullptr && !as->problem.empty() &&
      std::any_of(rows.begin(), rows.end(), [&](const Measurement& m) { return family(slice.axis, m) == as->problem; });
  if (as != nullptr && !follows && !differ_along(slice.axis, rows)) {
    const Axis own = axis_of(sweep.axis, rows);
    if (own != slice.axis && differ_along(own, rows)) {
      slice.elsewhere = own;
      return slice;
    }
  }
  if (follows) {
    chosen = as->problem;
  } else if (!slice.of_this_sweep) {
    int most = 0;
    for (const Measurement& m : rows) most = std::max(most, nearness(slice.axis, m.key.problem, planned));
    const auto near = [&](const Measurement& m) { return nearness(slice.axis, m.key.problem, planned) == most; };
    auto its = std::find_if(rows.rbegin(), rows.rend(), [&](const Measurement& m) {
      return m.key.kernel == kernel && m.state == RowState::done && near(m);
    });
    if (its == rows.rend()) its = std::find_if(rows.rbegin(), rows.rend(), near);
    chosen = family(slice.axis, *its);
  }
  slice.problem = chosen;
  slice.of_this_sweep = slice.of_this_sweep && slice.axis == sweep.axis;
  const auto origins = shown_origins(slice.axis, rows, chosen);
  std::map<std::pair<std::string, std::int64_t>, std::size_t> processor;
  std::set<std::int64_t> values;
  std::set<std::string_view> along_axis;  // kernels
  for (const Measurement& m : rows) {
    const bool other_problem = family(slice.axis, m) != chosen;
    if (other_problem || (m.state == RowState::done && origins.at(m.processor) != origin_of(m))) {
      ++slice.left_out;
      continue;
    }
    const std::int64_t value = axis_value(slice.axis, m);
    if (value > 0) values.insert(value), along_axis.insert(m.key.kernel);
    const auto [at, is_new] = processor.try_emplace({m.key.kernel, value}, slice.rows.size());
    if (is_new) slice.rows.push_back(&m);
    slice.rows[at->second] = &m;
  }
  // Without pages a kernel stands across the axis of pages: not beside its own rows on it, which have it as a ratio.
  slice.left_out += std::erase_if(slice.rows, [&](const Measurement* m) {
    return axis_value(slice.axis, *m) == 0 && along_axis.contains(m->key.kernel);
  });
  slice.values.assign(values.begin(), values.end());
  slice.rule = rule_of(slice.axis, slice.rows);
  return slice;
}

const Measurement* row_at(const BenchSlice& s, std::string_view kernel, std::int64_t value) {
  const Measurement* constant = nullptr;
  for (const Measurement* m : s.rows) {
    if (m->key.kernel != kernel) continue;
    const std::int64_t at = axis_value(s.axis, *m);
    if (at == value) return m;
    if (at == 0) constant = m;
  }
  return constant;
}

std::string baseline_shown(const State& state, Processor processor, Pass pass) {
  const auto chosen = find_kernel(state.view.bench.baseline);
  const bool fits = chosen && (*chosen)->processor == processor && takes_pass(**chosen, pass);
  return fits ? state.view.bench.baseline : std::string(baseline_of(processor, pass));
}

std::string baseline_shown(const State& state, const Measurement& m) {
  return baseline_shown(state, m.processor, m.key.problem.pass);
}

bool is_device_baseline(std::string_view kernel) {
  for (const Processor processor : {Processor::cpu, Processor::gpu})
    for (const Pass pass : kPasses)
      if (kernel == baseline_of(processor, pass)) return true;
  return false;
}

std::string source_words(const BenchSlice& slice) {
  if (slice.planned || slice.rows.empty()) return {};
  std::vector<std::string> devices;
  for (const Processor processor : {Processor::gpu, Processor::cpu}) {
    for (const Measurement* m : slice.rows) {
      if (m->processor != processor || m->state != RowState::done || m->key.device.empty()) continue;
      if (std::find(devices.begin(), devices.end(), m->key.device) == devices.end()) devices.push_back(m->key.device);
    }
  }
  if (devices.empty()) return slice.loaded ? tr("loaded, nothing measured") : tr("live, nothing measured");
  const std::string day = slice.date.substr(0, 10);
  return fmt::format("{}: {}{}{}", slice.loaded ? tr("loaded") : tr("live"), fmt::join(devices, tr(" and ")),
                     day.empty() ? "" : ", ", day);
}

std::string problem_words(const BenchSlice& slice, std::optional<std::int64_t> value) {
  const std::string letter = slice.letter.empty() ? "" : tr("run ") + slice.letter + ": ";  // B is also the batch
  for (const Measurement* m : slice.rows)
    if (value && (axis_value(slice.axis, *m) == *value || axis_value(slice.axis, *m) == 0))
      return letter + describe(m->key.problem);
  if (slice.rows.empty()) return letter + slice.problem;
  // Without the extents that the axis sets: those differ from point to point.
  std::string words = describe(slice.rows.front()->key.problem);
  const auto drop = [&](const std::string& name) {
    const std::size_t at = words.find(name + "=");
    if (at != std::string::npos) words.erase(at, words.find(' ', at) - at + 1);
  };
  drop(std::string(name_of(slice.axis)));
  if (!slice.rule.empty()) {
    drop("B");
    words = slice.rule + " " + words;
  }
  return letter + words;
}

bool differ_in_problem(const BenchSlice& a, const BenchSlice& b) {
  if (a.planned || b.planned || a.rows.empty() || b.rows.empty()) return false;
  if (a.axis != b.axis || a.problem != b.problem) return true;
  // What follows the axis: at a value that both have.
  std::vector<std::int64_t> values;
  values.reserve(b.rows.size());
  for (const Measurement* m : b.rows) values.push_back(axis_value(b.axis, *m));
  return std::ranges::any_of(a.rows, [&](const Measurement* m) {
    const std::int64_t at = axis_value(a.axis, *m);
    for (std::size_t n = 0; at > 0 && n < values.size(); ++n)
      if (at == values[n] && !(m->key.problem == b.rows[n]->key.problem)) return true;
    return false;
  });
}

std::optional<std::int64_t> chosen_value(const BenchSlice& slice, std::optional<std::int64_t> clicked) {
  if (clicked && std::find(slice.values.begin(), slice.values.end(), *clicked) != slice.values.end()) return clicked;
  std::optional<std::int64_t> best;
  std::ptrdiff_t max = 0;
  for (const std::int64_t value : slice.values) {
    const auto done = std::count_if(slice.rows.begin(), slice.rows.end(), [&](const Measurement* m) {
      return axis_value(slice.axis, *m) == value && m->time.n > 0;
    });
    if (done >= max && done > 0) {
      best = value;
      max = done;
    }
  }
  if (!best && !slice.rows.empty() && !slice.values.empty()) best = slice.values.back();
  return best;
}

namespace {

bool fits(std::string_view filter, const Measurement& m) {
  return filter.empty() || fits_filter(filter, m).value_or(true);
}

// The rows of a run as they are shown: over the baseline, against the run that was chosen, over rows of other layouts.
std::vector<Measurement> related_rows(const State& state, const Model& model, const SweepRun& run,
                                      std::string_view filter) {
  std::vector<Measurement> rows = run.rows;
  if (!state.view.bench.baseline.empty()) relate_to_baseline(rows, state.view.bench.baseline);
  if (const ListedRun* reference = find_run(model, state.document.runs.reference))
    relate_to_run(rows, reference->run.rows, words_of(state.document.runs, reference->run));
  RowsOfRuns among{run.rows};
  for (const ListedRun* shown : shown_runs(state.document.runs, model)) among.emplace_back(shown->run.rows);
  for (Measurement& m : rows) relate_to_layouts(m, among);
  std::erase_if(rows, [&](const Measurement& m) { return !fits(filter, m); });
  return rows;
}

// Most rows are shown as the run has them: hundreds of rows with all their figures take a while to copy.
bool shown_as_they_are(const State& state, const Model& model, const SweepRun& run, std::string_view filter) {
  return filter.empty() && state.view.bench.baseline.empty() &&
         find_run(model, state.document.runs.reference) == nullptr && std::ranges::all_of(run.rows, is_of_plain_layout);
}

// The values of all, so that every chart and the list of values has each.
void share_values(BenchSlices& slices) {
  std::set<std::int64_t> values;
  for (const BenchSlice& slice : slices) values.insert(slice.values.begin(), slice.values.end());
  for (BenchSlice& slice : slices) slice.values.assign(values.begin(), values.end());
}

BenchSlice planned_slice(const State& state, std::span<const Measurement> planned, const BenchSlice* as) {
  BenchSlice slice = slice_rows(state.document.sweep, planned, false, as);
  slice.planned = true;
  if (as != nullptr) {
    slice.run = kPredictedRun;
    slice.beside = true;
  }
  return slice;
}

std::string with_run(const BenchSlice& slice, const std::string& kernel) {
  if (slice.run == kPredictedRun) return kernel + tr(", predicted");
  return slice.letter.empty() ? kernel : fmt::format("{} {}", kernel, slice.letter);
}

// What a row has to be for its run to come first.
struct Sought {
  std::optional<std::int64_t> value;  // of the axis
  std::string_view kernel;            // empty: any
};

// Whether a run of its own has such a time along that axis.
bool has_time_of(const State& state, const SweepRun& run, const Axis& axis, const Sought& sought,
                 std::string_view filter) {
  const auto is_sought = [&](const Measurement& m) {
    return m.state == RowState::done && m.time.median > 0 && (sought.kernel.empty() || m.key.kernel == sought.kernel);
  };
  if (std::ranges::none_of(run.rows, is_sought)) return false;
  std::vector<Measurement> fitting;
  if (!filter.empty())
    std::ranges::copy_if(run.rows, std::back_inserter(fitting), [&](const Measurement& m) { return fits(filter, m); });
  const std::span<const Measurement> rows = filter.empty() ? std::span(run.rows) : std::span(fitting);
  const BenchSlice own = slice_rows(state.document.sweep, rows, true, nullptr, state.view.bench.kernel);
  return own.axis == axis && std::ranges::any_of(own.rows, [&](const Measurement* m) {
           const std::int64_t at = axis_value(axis, *m);
           return is_sought(*m) && (!sought.value || at == *sought.value || at == 0);
         });
}

}  // namespace

ShownSlices shown_slices(const State& state, const Model& model, std::span<const Measurement> planned,
                         std::string_view filter) {
  ShownSlices shown;
  const BenchRuns& list = state.document.runs;
  std::vector<const ListedRun*> runs = shown_runs(list, model);
  const bool letters = runs.size() > 1;
  // Of the runs with rows the last that has some that fit, else the last.
  auto lead = std::find_if(runs.rbegin(), runs.rend(), [&](const auto* r) {
    return std::ranges::any_of(r->run.rows, [&](const Measurement& m) { return fits(filter, m); });
  });
  if (lead == runs.rend())
    lead = std::find_if(runs.rbegin(), runs.rend(), [](const auto* r) { return !r->run.rows.empty(); });
  if (lead == runs.rend()) {
    shown.slices.push_back(planned_slice(state, planned, nullptr));
    return shown;
  }
  const auto add = [&](const ListedRun* r, const BenchSlice* as) {
    const auto at = std::find(runs.begin(), runs.end(), r) - runs.begin();
    const SweepRun& run = r->run;
    std::span<const Measurement> rows = run.rows;
    shown.of += rows.size();
    if (!shown_as_they_are(state, model, run, filter))
      rows =
          *shown.rows.emplace_back(std::make_unique<std::vector<Measurement>>(related_rows(state, model, run, filter)));
    shown.fit += rows.size();
    BenchSlice slice = slice_rows(state.document.sweep, rows, run.provenance.loaded, as, state.view.bench.kernel);
    slice.run = run.id;
    slice.words = words_of(list, run);
    slice.listed = listed_choices(list, run, model.runs).back();
    slice.file = run.provenance.file;
    slice.date = run.date.empty() ? run.provenance.date : run.date;
    slice.driver = run.provenance.driver;
    slice.beside = as != nullptr;
    if (letters) slice.letter = std::string(1, static_cast<char>('A' + at));
    return slice;
  };
  // Where that has no time of the kernel that was chosen at the value that was clicked, the last that has one; else the
  // last that has one there of any kernel.
  const std::string& kernel = state.view.bench.kernel;
  if (const auto value = state.view.bench.value; letters && (value || !kernel.empty())) {
    const Axis axis = slice_rows(state.document.sweep, (*lead)->run.rows, true, nullptr, kernel).axis;
    const auto seek = [&](const Sought& sought) {
      const auto has = std::find_if(lead, runs.rend(),
                                    [&](const auto* r) { return has_time_of(state, r->run, axis, sought, filter); });
      if (has != runs.rend()) lead = has;
      return has != runs.rend();
    };
    if ((kernel.empty() || !seek({value, kernel})) && value) seek({value, {}});
  }
  shown.slices.push_back(add(*lead, nullptr));
  for (const ListedRun* r : runs)
    if (r != *lead && !r->run.rows.empty()) shown.slices.push_back(add(r, &shown.slices.front()));
  if (is_shown(list, kPredictedRun)) shown.slices.push_back(planned_slice(state, planned, &shown.slices.front()));
  share_values(shown.slices);
  return shown;
}

std::string shown_name(const Measurement& m) {
  return m.peer && !m.peer->title.empty() ? std::string(tr_of(m.peer->title)) : m.key.kernel;
}

std::string line_id_of(const BenchSlice& slice, const std::string& kernel) {
  return with_run(slice, kernel);
}

std::string label_of(const BenchSlice& slice, const std::string& kernel) {
  const auto row = std::ranges::find(slice.rows, kernel, [](const Measurement* m) { return m->key.kernel; });
  return with_run(slice, row == slice.rows.end() ? kernel : shown_name(**row));
}

std::vector<std::string> kernels_of(const BenchSlice& slice) {
  std::vector<std::string> ids;
  for (const Measurement* m : slice.rows) {
    if (std::find(ids.begin(), ids.end(), m->key.kernel) == ids.end()) ids.push_back(m->key.kernel);
  }
  std::stable_sort(ids.begin(), ids.end(),
                   [&](const auto& a, const auto& b) { return ladder_rank(a) < ladder_rank(b); });
  return ids;
}

}  // namespace attn
