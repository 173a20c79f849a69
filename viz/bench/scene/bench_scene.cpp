// What Bench shows as a whole: the runs that stand beside one another, and everything that follows from them.
#include "viz/bench/scene/bench_scene.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text.h"
#include "profiling/figures/baseline.h"
#include "viz/bench/ladder/ladder.h"
#include "viz/bench/scene/absent_kernel.h"
#include "viz/bench/sweep/sweep_fields.h"

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
  scene.beside.assign(slices.begin() + 1, slices.end());
  const std::string beside = beside_words(state, scene.slice, scene.beside, scene.chosen, scene.verdict.kernel);
  if (!beside.empty()) scene.verdict.reason += (scene.verdict.reason.empty() ? "" : "\n") + beside;
  const std::string unlike = unlike_words(scene.slice, scene.beside, scene.chosen);
  if (const std::string recorded = scene.chosen ? recorded_words(state, scene.slice, *scene.chosen) : "";
      !recorded.empty())
    scene.verdict.reason += (scene.verdict.reason.empty() ? "" : "\n") + recorded;
  if (!unlike.empty()) scene.verdict.reason.insert(0, unlike + (scene.verdict.reason.empty() ? "" : "\n"));
  AbsentKernel absent = absent_kernel(state, model, slices, scene.chosen, scene.verdict.kernel);
  scene.verdict.answers = !absent.words.empty();
  if (scene.verdict.answers) scene.verdict.reason.insert(0, absent.words + (scene.verdict.reason.empty() ? "" : "\n"));
  scene.way = std::move(absent.way);
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
