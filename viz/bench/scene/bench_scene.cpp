// What Bench shows as a whole: the runs that stand beside one another, and everything that follows from them.
#include "viz/bench/scene/bench_scene.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/base/dtype.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "profiling/figures/baseline.h"
#include "viz/bench/ladder/ladder.h"
#include "viz/bench/sweep/sweep_choices.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/draw/figure_text.h"
#include "viz/state/run_words.h"

namespace attn {
namespace {

// Quartiles and intervals are whiskers, not charts. DRAM bytes are predicted where nobody counted them.
std::vector<BenchMetric> pickable_metrics(const BenchSlices& slices) {
  std::vector<BenchMetric> metrics{*bench_metric(kDramBytes)};
  for (const MetricRow& metric : metric_table()) {
    const bool any = std::any_of(slices.begin(), slices.end(), [&](const BenchSlice& slice) {
      return std::any_of(slice.rows.begin(), slice.rows.end(),
                         [&](const Measurement* m) { return figure(*m, metric.id).available(); });
    });
    const bool whisker = metric.id.starts_with("time_us_") && metric.id != "time_us_median";
    if (any && !whisker) metrics.push_back(*bench_metric(metric.id));
  }
  // One heading a group.
  std::stable_sort(metrics.begin(), metrics.end(),
                   [](const BenchMetric& a, const BenchMetric& b) { return a.group < b.group; });
  return metrics;
}

void set_ticks(BenchScene& scene) {
  const auto& values = scene.slice.values;
  for (const std::int64_t v : values) scene.ticks.push_back({v, short_count(v)});
  if (values.empty()) return;
  const auto first = static_cast<double>(values.front()), last = static_cast<double>(values.back());
  scene.log_x = last >= 4 * first;
  if (values.size() == 1) {
    scene.x_min = first / 2;
    scene.x_max = first * 2;
    scene.log_x = true;
  } else if (scene.log_x) {
    const double margin = std::pow(last / first, 0.04);
    scene.x_min = first / margin;
    scene.x_max = last * margin;
  } else {
    const double margin = (last - first) * 0.04;
    scene.x_min = first - margin;
    scene.x_max = last + margin;
  }
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

// Of a kernel that was chosen and that the strip cannot speak of.
std::string absent_words(const State& state, const BenchScene& scene) {
  const std::string& kernel = state.view.bench.kernel;
  if (kernel.empty() || kernel == scene.verdict.kernel || scene.verdict.kernel.empty() || !scene.chosen) return {};
  const Measurement* row = row_at(scene.slice, kernel, *scene.chosen);
  if (row != nullptr && row->state == RowState::done) return {};
  if (row != nullptr)
    return phrase("{} has no time here: {}", kernel,
                  sentence(row->reason.empty() ? std::string(name_of(row->state)) : row->reason));
  const bool elsewhere =
      std::ranges::any_of(scene.slice.rows, [&](const Measurement* m) { return m->key.kernel == kernel; });
  const std::string where = elsewhere ? phrase("at {} = {}", scene.axis_letter, *scene.chosen) : tr("for this problem");
  const std::string why = type_words(kernel, scene.slice);
  return why.empty() ? phrase("{} has no row {}.", kernel, where) : phrase("{} has no row {}: {}.", kernel, where, why);
}

// What a filter leaves is never taken for all there is.
void tell_of_filter(const ShownSlices& shown, BenchScene& scene) {
  if (scene.filter.empty() || shown.of == 0) return;
  std::string& note = scene.table.note;
  note = plural(shown.of, "The filter keeps {1} of {0} row.", "The filter keeps {1} of {0} rows.", shown.fit) +
         (note.empty() ? "" : " ") + note;
  if (shown.fit > 0) return;
  scene.verdict = {"", phrase("No row matches {}.", scene.filter), tr("The filter is above the table.")};
  for (BenchChart& chart : scene.charts) chart.empty = tr("No row matches the filter.");
}

}  // namespace

BenchScene bench_scene(const State& state, const Model& model, const BenchSwitches& switches,
                       std::string_view estimate_words, std::span<const Measurement> planned) {
  BenchScene scene;
  scene.filter = state.view.bench.filter;
  ShownSlices shown = shown_slices(state, model, planned, scene.filter);
  BenchSlices& slices = shown.slices;
  scene.slice = slices.front();
  for (const BenchSlice& slice : slices) {
    for (const std::string& kernel : kernels_of(slice))
      if (std::find(scene.kernels.begin(), scene.kernels.end(), kernel) == scene.kernels.end())
        scene.kernels.push_back(kernel);
  }
  scene.axis_letter = std::string(axis_letter(scene.slice.axis));
  scene.chosen = chosen_value(scene.slice, state.view.bench.value);
  set_ticks(scene);
  scene.metrics = pickable_metrics(slices);
  scene.charts = bench_charts(state, model, slices, switches);
  scene.table = bench_table(state, slices, scene.chosen, switches);
  scene.verdict = bench_verdict(state, model, scene.slice, scene.chosen, estimate_words);
  if (const std::string absent = absent_words(state, scene); !absent.empty())
    scene.verdict.reason.insert(0, absent + (scene.verdict.reason.empty() ? "" : "\n"));
  scene.beside.assign(slices.begin() + 1, slices.end());
  const std::string beside = beside_words(state, scene.slice, scene.beside, scene.chosen, scene.verdict.kernel);
  if (!beside.empty()) scene.verdict.reason += (scene.verdict.reason.empty() ? "" : "\n") + beside;
  const std::string unlike = unlike_words(scene.slice, scene.beside, scene.chosen);
  if (const std::string recorded = scene.chosen ? recorded_words(state, scene.slice, *scene.chosen) : "";
      !recorded.empty())
    scene.verdict.reason += (scene.verdict.reason.empty() ? "" : "\n") + recorded;
  if (!unlike.empty()) scene.verdict.reason.insert(0, unlike + (scene.verdict.reason.empty() ? "" : "\n"));
  if (!scene.slice.letter.empty() && !scene.slice.planned)
    scene.verdict.headline = phrase("Run {}: {}", scene.slice.letter, scene.verdict.headline);
  if (scene.chosen) {
    for (BenchChart& chart : scene.charts)
      if (chart.metric == "time_us_median" || chart.metric == kDramBytes)
        chart.span = span_at(chart, scene.verdict.kernel, *scene.chosen);
  }
  tell_of_filter(shown, scene);
  scene.slice.rows.clear();  // they live no longer than this call
  for (BenchSlice& slice : scene.beside) slice.rows.clear();
  return scene;
}

}  // namespace attn
