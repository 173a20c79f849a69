#include "viz/bench/scene/absent_kernel.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/base/dtype.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "viz/bench/runs/row_filter.h"
#include "viz/bench/runs/run_holds.h"
#include "viz/bench/runs/subject.h"
#include "viz/bench/sweep/sweep_choices.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/bench/sweep/sweep_pass.h"
#include "viz/draw/figure_text.h"
#include "viz/state/bench_runs.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

// What tells a row's problem from the one that is set up, among what the panel's fields choose: "f16", "D = 64".
std::vector<std::string> differences(const SweepSpec& sweep, const Problem& p) {
  const Problem& now = sweep.base;
  std::vector<std::string> parts;
  if (p.pass != now.pass) parts.emplace_back(name_of(p.pass));
  if (p.dtype != now.dtype) parts.emplace_back(name_of(p.dtype));
  if (sweep.axis != Axis::D && (p.D != now.D || p.Dv != now.Dv)) parts.push_back(fmt::format("D = {}", p.D));
  if (!(p.mask == now.mask)) {
    const bool window = p.mask.window_left >= 0 || p.mask.window_right >= 0;
    parts.emplace_back(window ? tr("windowed") : p.mask.causal ? tr("causal") : tr("unmasked"));
  }
  return parts;
}

// Why a kernel has none of these rows, where its types say so: "it takes f32 only, these rows are f16".
std::string type_words(const std::string& kernel, const BenchSlice& slice) {
  const auto row = find_kernel(kernel);
  if (!row || slice.rows.empty()) return {};
  SweepSpec theirs;
  theirs.base.dtype = slice.rows.front()->key.problem.dtype;
  const std::string only = refusal(**row, theirs);
  return only.empty() ? only : phrase("it supports {}, but these rows are {}", only, name_of(theirs.base.dtype));
}

State after(State state, const WayToKernel& way) {
  if (!way.run.empty()) show_run(state.document.runs, way.run);
  if (way.sweep) state.document.sweep = *way.sweep;
  if (way.value) state.view.bench.value = way.value;
  if (way.all_rows) state.view.bench.filter.clear();
  return state;
}

// Whether charts and table then have it.
bool shows(const State& state, const Model& model, const std::string& kernel) {
  const ShownSlices shown = shown_slices(state, model, {}, state.view.bench.filter);
  const BenchSlice& lead = shown.slices.front();
  const auto value = chosen_value(lead, state.view.bench.value);
  if (lead.planned || !value) return false;
  return std::ranges::any_of(shown.slices, [&](const BenchSlice& slice) {
    const Measurement* row = row_at(slice, kernel, *value);
    return row != nullptr && has_time(*row);
  });
}

// The row whose problem is nearest to the one that is set up, of those the last.
const Measurement* nearest_row(const SweepSpec& sweep, const SweepRun& run, const std::string& kernel) {
  const Measurement* nearest = nullptr;
  std::size_t least = 0;
  for (const Measurement& m : run.rows) {
    if (m.key.kernel != kernel || !has_time(m)) continue;
    const std::size_t parts = differences(sweep, m.key.problem).size();
    if (nearest == nullptr || parts <= least) nearest = &m, least = parts;
  }
  return nearest;
}

// The sweep as it is; what its fields choose as the row has it; the row's whole problem.
std::vector<std::optional<SweepSpec>> sweeps_for(const SweepSpec& sweep, const Problem& p) {
  SweepSpec fields = with_pass_and_kernels(sweep, p.pass);
  fields.base.dtype = p.dtype;
  fields.base.D = p.D, fields.base.Dv = p.Dv;
  fields.base.mask = p.mask;
  fields.base.output = p.output;
  SweepSpec whole = fields;
  whole.base = p;
  return {std::nullopt, std::move(fields), std::move(whole)};
}

// The first of these that shows a row of the kernel: with the value that is looked at, else with the row's own.
std::optional<WayToKernel> way_to(const State& state, const Model& model, const Measurement& row, WayToKernel way) {
  const std::string& filter = state.view.bench.filter;
  way.all_rows = !filter.empty() && !fits_filter(filter, row).value_or(true);
  for (auto& sweep : sweeps_for(state.document.sweep, row.key.problem)) {
    way.sweep = std::move(sweep);
    way.value.reset();
    if (shows(after(state, way), model, row.key.kernel)) return way;
    const State there = after(state, way);
    const ShownSlices shown = shown_slices(there, model, {}, there.view.bench.filter);
    if (const std::int64_t at = axis_value(shown.slices.front().axis, row); at > 0) way.value = at;
    if (way.value && shows(after(state, way), model, row.key.kernel)) return way;
  }
  return std::nullopt;
}

// Among the rows of the runs that are ticked.
std::optional<WayToKernel> way_in_shown(const State& state, const Model& model, const std::string& kernel) {
  const std::vector<const ListedRun*> runs = shown_runs(state.document.runs, model);
  for (auto r = runs.rbegin(); r != runs.rend(); ++r) {
    const Measurement* row = nearest_row(state.document.sweep, (*r)->run, kernel);
    if (row == nullptr) continue;
    auto way = way_to(state, model, *row, {});
    if (!way) continue;
    const auto parts = differences(state.document.sweep, row->key.problem);
    if (!way->sweep && way->all_rows) {
      way->words = tr("Clear the filter");
    } else {
      way->words =
          parts.empty() || !way->sweep ? phrase("Show its rows") : phrase("Show the {} rows", fmt::join(parts, ", "));
    }
    way->help = phrase("Shows {} on {}", kernel, describe(row->key.problem));
    return way;
  }
  return std::nullopt;
}

// Another value of the axis, where it has a row of this very problem: the nearest.
std::optional<WayToKernel> way_along(const State& state, const Model& model, const BenchSlices& slices,
                                     std::int64_t chosen, const std::string& kernel) {
  std::optional<std::int64_t> nearest;
  for (const BenchSlice& slice : slices)
    for (const Measurement* m : slice.rows) {
      const std::int64_t at = axis_value(slice.axis, *m);
      if (m->key.kernel != kernel || !has_time(*m) || at == 0) continue;
      if (!nearest || std::abs(at - chosen) < std::abs(*nearest - chosen)) nearest = at;
    }
  if (!nearest) return std::nullopt;
  WayToKernel way;
  way.value = nearest;
  way.words = phrase("Show {} = {}", axis_letter(slices.front().axis), *nearest);
  way.help = phrase("{} has a row there", kernel);
  return shows(after(state, way), model, kernel) ? std::optional(way) : std::nullopt;
}

// Runs that have it, the best to open first. One that is ticked comes first in the order of the ticks.
std::optional<WayToKernel> way_in_others(const State& state, const Model& model, const std::string& kernel) {
  const BenchRuns& list = state.document.runs;
  std::vector<std::pair<const ListedRun*, std::size_t>> runs;
  for (const ListedRun& r : model.runs) {
    const std::set<std::string> kernels = timed_kernels(r.run);
    if (!list.removed.contains(r.run.id) && kernels.contains(kernel)) runs.emplace_back(&r, kernels.size());
  }
  std::ranges::stable_sort(
      runs, [](const auto& a, const auto& b) { return opens_before(*a.first, a.second, *b.first, b.second); });
  for (const auto& [r, kernels] : runs) {
    const Measurement* row = nearest_row(state.document.sweep, r->run, kernel);
    WayToKernel open;
    open.run = r->run.id;
    auto way = way_to(state, model, *row, std::move(open));
    if (!way) continue;
    const std::string run = words_of(list, r->run);
    way->words = is_shown(list, r->run.id) ? phrase("Show {} first", run) : phrase("Open {}", run);
    way->help = phrase("Shows {} on {}", kernel, describe(row->key.problem));
    return way;
  }
  return std::nullopt;
}

// Of a run beside the one that the sentences are about; of that one they speak.
std::string beside_it(const BenchSlice& slice, const Measurement& m) {
  if (!slice.beside) return {};
  return phrase("In {}, {} takes {}.", slice.letter, m.key.kernel,
                value_with_unit(m.time.median, time_unit(m.time.median, m.time.median)));
}

}  // namespace

bool opens_before(const ListedRun& a, std::size_t kernels_of_a, const ListedRun& b, std::size_t kernels_of_b) {
  const auto rank = [](const ListedRun& r, std::size_t kernels) {
    return std::tuple(r.from == RunFrom::bundled, -static_cast<std::ptrdiff_t>(kernels), -std::ssize(r.run.rows));
  };
  return rank(a, kernels_of_a) < rank(b, kernels_of_b);
}

AbsentKernel absent_kernel(const State& state, const Model& model, const BenchSlices& slices,
                           std::optional<std::int64_t> chosen, const std::string& subject) {
  const std::string& kernel = state.view.bench.kernel;
  const BenchSlice& lead = slices.front();
  if (kernel.empty() || kernel == subject || lead.planned || lead.rows.empty() || !chosen) return {};
  const Measurement* row = nullptr;
  bool elsewhere = false;
  for (const BenchSlice& slice : slices) {
    if (slice.planned) continue;
    const Measurement* m = row_at(slice, kernel, *chosen);
    if (m != nullptr && has_time(*m)) return {beside_it(slice, *m), {}};
    if (row == nullptr) row = m;
    elsewhere |= std::ranges::any_of(slice.rows, [&](const Measurement* r) { return r->key.kernel == kernel; });
  }
  if (row != nullptr && row->state == RowState::done) return {};
  AbsentKernel absent;
  if (row != nullptr) {
    absent.words = phrase("{} has no time here: {}", kernel,
                          sentence(row->reason.empty() ? std::string(name_of(row->state)) : row->reason));
    return absent;
  }
  bool ticked = true;
  auto way = way_along(state, model, slices, *chosen, kernel);
  if (!way) way = way_in_shown(state, model, kernel);
  if (!way) {
    way = way_in_others(state, model, kernel);
    ticked = !way || is_shown(state.document.runs, way->run);
  }
  const std::string where = elsewhere ? phrase("at {} = {}", axis_letter(lead.axis), *chosen)
                            : ticked  ? tr("for this problem")
                                      : tr("in the ticked runs");
  const std::string why = type_words(kernel, lead);
  absent.words =
      why.empty() ? phrase("{} has no row {}.", kernel, where) : phrase("{} has no row {}: {}.", kernel, where, why);
  if (way) absent.way = *std::move(way);
  return absent;
}

}  // namespace attn
