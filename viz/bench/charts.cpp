// The four charts: which lines, which points, which range.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kernels/ladder.h"
#include "profiling/figures/baseline.h"
#include "viz/bench/fields.h"
#include "viz/bench/scene.h"

namespace attn {
namespace {

struct Range {
  double min = 0, max = 0;
  bool any = false;
  void take(double x) {
    if (!std::isfinite(x)) return;
    min = any ? std::min(min, x) : x;
    max = any ? std::max(max, x) : x;
    any = true;
  }
};

Range range_of(const BenchSlices& slices, std::string_view metric) {
  Range r;
  for (const BenchSlice& slice : slices)
    for (const Measurement* m : slice.rows)
      if (const Figure& f = figure(*m, metric); f.available() && f.value > 0) r.take(f.value);
  return r;
}

// The quartiles of the time carried over to what is derived from it.
void set_quartiles(BenchPoint& point, const Measurement& m, std::string_view metric, double factor) {
  point.low = point.high = point.y;
  if (m.time.n < 2 || m.time.q1 <= 0) return;
  if (metric == "time_us_median") {
    point.low = m.time.q1 * factor;
    point.high = m.time.q3 * factor;
  } else if (metric == "tflops" || metric == "speedup_ratio" || metric == "peak_share_pct") {
    point.low = point.y * m.time.median / m.time.q3;
    point.high = point.y * m.time.median / m.time.q1;
  }
}

// "flash_simt", "flash_simt B" where several runs are shown, "flash_simt, predicted" beside measured ones.
std::string label_of(const BenchSlice& slice, const std::string& kernel) {
  if (slice.run == kPredictedRun) return kernel + ", predicted";
  return slice.letter.empty() ? kernel : fmt::format("{} {}", kernel, slice.letter);
}

// Kernel ids of the slice in the order of the ladder, those that this program does not know at the end.
std::vector<std::string> kernels_of(const BenchSlice& slice) {
  std::vector<std::string> ids;
  for (const Measurement* m : slice.rows) {
    if (std::find(ids.begin(), ids.end(), m->key.kernel) == ids.end()) ids.push_back(m->key.kernel);
  }
  std::stable_sort(ids.begin(), ids.end(),
                   [&](const auto& a, const auto& b) { return ladder_rank(a) < ladder_rank(b); });
  return ids;
}

BenchLine line_of(const State& state, const BenchSlice& slice, const std::string& kernel, std::string_view metric,
                  const BenchUnit& unit) {
  BenchLine line;
  line.kernel = kernel;
  line.label = line.id = label_of(slice, kernel);
  line.order = slice.letter.empty() ? 0 : static_cast<std::size_t>(slice.letter.front() - 'A');
  line.dotted = line.bare = slice.run == kPredictedRun;
  line.beside = slice.beside;
  line.emphasised = kernel == bench_kernel(state) && !slice.beside;
  line.hollow = slice.loaded;
  for (const Measurement* m : slice.rows) {
    if (m->key.kernel != kernel) continue;
    line.open = m->processor == Processor::cpu;
    line.baseline = kernel == baseline_shown(state, m->processor) && !slice.beside;
    const Figure& f = figure(*m, metric);
    if (!f.available() || !std::isfinite(f.value)) continue;
    BenchPoint point;
    point.x = axis_value(slice.axis, *m);
    point.y = f.value * unit.factor;
    point.text = value_with_unit(f.value, unit);
    set_quartiles(point, *m, metric, unit.factor);
    if (point.x == 0) {
      line.constant = true;
      for (const std::int64_t value : slice.values) {
        point.x = value;
        line.points.push_back(point);
      }
    } else {
      line.points.push_back(point);
    }
  }
  std::sort(line.points.begin(), line.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return line;
}

std::string why_empty(const Model& model, const BenchSlices& slices, std::string_view metric) {
  const BenchSlice& slice = slices.front();
  if (model.task.running && slice.planned) return "The first point is being measured.";
  if (slice.planned) {
    const auto at = find_metric(metric);
    return at ? fmt::format("{} Run draws it.", metric_table()[*at].help) : "Run draws it.";
  }
  for (const Measurement* m : slice.rows) {
    const Figure& f = figure(*m, metric);
    if (!f.available() && m->time.n > 0) return fmt::format("Not available: {}", sentence(f.reason));
  }
  return "No row has a figure: the table says why.";
}

// Limits that hold every point and whisker with some room.
void set_range(BenchChart& chart) {
  Range r;
  for (const BenchLine& line : chart.lines) {
    for (const BenchPoint& p : line.points) {
      r.take(p.low);
      r.take(p.high);
    }
  }
  if (!r.any) return;
  if (chart.log_y && r.min > 0) {
    const double room = std::max(1.25, std::pow(r.max / r.min, 0.06));
    chart.y_min = r.min / room;
    chart.y_max = r.max * room;
  } else {
    chart.log_y = false;
    chart.y_min = std::min(0.0, r.min * 1.08);
    chart.y_max = r.max > 0 ? r.max * 1.1 : 1;
  }
}

void add_note(BenchChart& chart, const std::string& unit, std::string_view rest) {
  chart.unit = chart.note = unit;
  const auto add = [&](std::string_view words) {
    if (!chart.note.empty()) chart.note += ", ";
    chart.note += words;
  };
  if (!rest.empty()) add(rest);
}

// The memory of the GPU that the sweep asks for, across the chart: where a line crosses it, the kernel cannot run.
std::optional<BenchLine> memory_limit(const State& state, const Model& model, const BenchSlices& slices,
                                      std::string_view metric, const BenchUnit& unit) {
  if (metric != "memory_peak_bytes" && metric != "memory_overhead_bytes") return std::nullopt;
  const BenchSlice& slice = slices.front();
  const bool on_gpu = std::any_of(slices.begin(), slices.end(), [](const BenchSlice& s) {
    return std::any_of(s.rows.begin(), s.rows.end(), [](const auto* m) { return m->processor == Processor::gpu; });
  });
  const std::uint64_t bytes = gpu_device(state.document.sweep, model.gpu).memory_bytes;
  if (!on_gpu || bytes == 0 || slice.values.empty()) return std::nullopt;
  BenchLine line;
  line.label = line.id = "this GPU's memory";
  line.dotted = true;
  const auto value = static_cast<double>(bytes);
  for (const std::int64_t x : slice.values)
    line.points.push_back(
        {x, value * unit.factor, value * unit.factor, value * unit.factor, value_with_unit(value, unit)});
  return line;
}

BenchChart metric_chart(const State& state, const Model& model, const BenchSlices& slices, std::string_view metric_id,
                        std::optional<bool> log, bool log_by_itself) {
  BenchChart chart;
  const auto at = find_metric(metric_id);
  if (!at) {
    chart.title = std::string(metric_id);
    chart.empty = at.error().message;
    return chart;
  }
  const MetricRow& metric = metric_table()[*at];
  const Range r = range_of(slices, metric.id);
  const BenchUnit unit = unit_of(metric, r.min, r.max);
  chart.title = std::string(metric.label);
  for (const BenchSlice& slice : slices) {
    for (const std::string& kernel : kernels_of(slice)) {
      BenchLine line = line_of(state, slice, kernel, metric.id, unit);
      if (!line.points.empty()) chart.lines.push_back(std::move(line));
    }
  }
  if (chart.lines.empty()) chart.empty = why_empty(model, slices, metric.id);
  if (auto limit = memory_limit(state, model, slices, metric.id, unit); limit && !chart.lines.empty()) {
    chart.lines.push_back(std::move(*limit));
    log_by_itself = true;  // the limit may lie far above
  }
  chart.log_y = log.value_or(log_by_itself) && r.any;
  set_range(chart);
  std::string_view rest;
  if (metric.better == Better::up) rest = "higher is better";
  if (metric.better == Better::down) rest = "lower is better";
  add_note(chart, unit.name, rest);
  return chart;
}

// DRAM bytes read and written, as one line; without points where they were not counted.
BenchLine dram_line(const State& state, const BenchSlice& slice, const std::string& kernel, const BenchUnit& unit) {
  BenchLine dram = line_of(state, slice, kernel, "dram_read_bytes", unit);
  const BenchLine written = line_of(state, slice, kernel, "dram_write_bytes", unit);
  if (dram.points.size() != written.points.size()) dram.points.clear();
  for (std::size_t i = 0; i < dram.points.size(); ++i) {
    BenchPoint& p = dram.points[i];
    p.y += written.points[i].y;
    p.low = p.high = p.y;
    p.text = fmt::format("{} {}", figure_text(p.y), unit.name);
  }
  return dram;
}

// Measured DRAM bytes (solid) and, dotted, the least that each order must move. A kernel that was not counted has its
// tile loads in their place.
void measured_bytes_lines(const State& state, const BenchSlice& slice, const BenchUnit& unit, BenchChart& chart) {
  for (const std::string& kernel : kernels_of(slice)) {
    BenchLine dram = dram_line(state, slice, kernel, unit);
    BenchLine min = line_of(state, slice, kernel, dram.points.empty() ? "tile_load_bytes" : "compulsory_bytes", unit);
    min.dotted = true;
    min.bare = !dram.points.empty();
    if (min.bare) min.label += ", least";
    if (min.bare && slice.beside) min.points.clear();  // the least of an order is the same in every run
    if (!dram.points.empty()) chart.lines.push_back(std::move(dram));
    if (!min.points.empty()) chart.lines.push_back(std::move(min));
  }
}

// Tile loads predicted (dotted), and the least that any of these kernels must move (dotted, of no kernel).
void predicted_bytes_lines(const State& state, const BenchSlice& slice, const BenchUnit& unit, BenchChart& chart) {
  BenchLine floor;
  for (const std::string& kernel : kernels_of(slice)) {
    BenchLine tiles = line_of(state, slice, kernel, "tile_load_bytes", unit);
    tiles.dotted = true;
    tiles.bare = false;
    const BenchLine once = line_of(state, slice, kernel, "compulsory_bytes", unit);
    if (!once.points.empty() && (floor.points.empty() || once.points.front().y < floor.points.front().y)) floor = once;
    if (!tiles.points.empty()) chart.lines.push_back(std::move(tiles));
  }
  if (floor.points.empty() || slice.beside) return;
  floor.kernel.clear();
  floor.label = floor.id = "each once";
  floor.dotted = true;
  floor.baseline = floor.emphasised = false;
  chart.lines.push_back(std::move(floor));
}

BenchChart bytes_chart(const State& state, const Model& model, const BenchSlices& slices, std::optional<bool> log) {
  BenchChart chart;
  const bool measured = range_of(slices, "dram_read_bytes").any;
  chart.title = measured ? "DRAM bytes" : "HBM bytes";
  const BenchUnit unit = bytes_unit(range_of(slices, measured ? "compulsory_bytes" : "tile_load_bytes").max);
  for (const BenchSlice& slice : slices)
    measured ? measured_bytes_lines(state, slice, unit, chart) : predicted_bytes_lines(state, slice, unit, chart);
  if (chart.lines.empty()) chart.empty = why_empty(model, slices, "tile_load_bytes");
  chart.log_y = log.value_or(true) && !chart.lines.empty();
  set_range(chart);
  const bool predicted =
      std::any_of(slices.begin(), slices.end(), [](const BenchSlice& s) { return s.run == kPredictedRun; });
  const char* counted = predicted ? "read and written; dotted: least, and predicted tile loads"
                                  : "read and written; dotted: the least of its order";
  add_note(chart, chart.lines.empty() ? "" : unit.name, measured ? counted : "predicted: every tile load");
  return chart;
}

}  // namespace

std::string_view picked_metric(const State& state) {
  const std::string& id = state.view.bench.metric;
  return id == "time_us_median" || !find_metric(id) ? std::string_view("speedup_ratio") : std::string_view(id);
}

namespace {

// "2.1 times as fast as the same kernel in X".
void name_reference(const State& state, const Model& model, BenchChart& chart) {
  const ListedRun* reference = find_run(model, state.document.runs.reference);
  chart.title = "Against run";
  if (reference == nullptr || chart.lines.empty()) return;
  chart.unit = "times";
  chart.note = fmt::format("times as fast as in {}", words_of(state.document.runs, reference->run));
}

}  // namespace

std::array<BenchChart, 4> bench_charts(const State& state, const Model& model, const BenchSlices& slices,
                                       const BenchSwitches& switches) {
  const BenchSlice& slice = slices.front();
  std::array<BenchChart, 4> charts{metric_chart(state, model, slices, "tflops", switches.log[0], false),
                                   metric_chart(state, model, slices, "time_us_median", switches.log[1], true),
                                   bytes_chart(state, model, slices, switches.log[2]),
                                   metric_chart(state, model, slices, picked_metric(state), switches.log[3], false)};
  constexpr std::array<const char*, 4> kIds{"throughput", "time", "bytes", "picked"};
  for (std::size_t i = 0; i < charts.size(); ++i) {
    charts[i].id = kIds[i];
    charts[i].source = source_words(slices);
  }
  charts[0].title = "Throughput";
  if (!charts[1].lines.empty()) charts[1].note += "; whiskers: quartiles";
  charts[3].picks_metric = true;
  if (picked_metric(state) == "against_run_ratio") name_reference(state, model, charts[3]);
  if (picked_metric(state) == "speedup_ratio") {
    std::vector<std::string> over;
    for (const Measurement* m : slice.rows) {
      std::string id = baseline_shown(state, m->processor);
      if (std::find(over.begin(), over.end(), id) == over.end()) over.push_back(std::move(id));
    }
    charts[3].title = "Speed-up";
    charts[3].unit = charts[3].lines.empty() ? "" : "times";
    charts[3].note =
        fmt::format("times as fast as {}{}", fmt::join(over, ", "), over.size() > 1 ? ", each on its device" : "");
  }
  return charts;
}

std::optional<BenchSpan> span_at(const BenchChart& chart, std::string_view kernel, std::int64_t value) {
  const auto point = [&](const BenchLine& line) -> const BenchPoint* {
    const auto p = std::find_if(line.points.begin(), line.points.end(), [&](const auto& q) { return q.x == value; });
    return p == line.points.end() || p->y <= 0 ? nullptr : &*p;
  };
  const BenchPoint* from = nullptr;
  const BenchPoint* to = nullptr;
  bool on_cpu = false;
  // A measured line comes before its prediction.
  for (const BenchLine& line : chart.lines) {
    if (line.kernel.empty() || line.kernel != kernel || line.beside || to != nullptr) continue;
    to = point(line);
    on_cpu = line.open;
  }
  for (const BenchLine& line : chart.lines)
    if (line.baseline && line.open == on_cpu && from == nullptr) from = point(line);
  if (from == nullptr || to == nullptr || from == to) return std::nullopt;
  return BenchSpan{value, from->y, to->y, times_text(std::max(from->y / to->y, to->y / from->y)) + "×"};
}

namespace {

// Quartiles and intervals are whiskers, not charts.
std::vector<std::string> pickable_metrics(const BenchSlices& slices) {
  std::vector<std::string> ids;
  for (const MetricRow& metric : metric_table()) {
    const bool any = std::any_of(slices.begin(), slices.end(), [&](const BenchSlice& slice) {
      return std::any_of(slice.rows.begin(), slice.rows.end(),
                         [&](const Measurement* m) { return figure(*m, metric.id).available(); });
    });
    if (any && !metric.id.starts_with("time_us_")) ids.emplace_back(metric.id);
  }
  // One heading a group.
  std::stable_sort(ids.begin(), ids.end(), [](const std::string& a, const std::string& b) {
    return metric_table()[*find_metric(a)].group < metric_table()[*find_metric(b)].group;
  });
  return ids;
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

// The rows of a run as they are shown: over the baseline and against the run that the user chose.
std::vector<Measurement> related_rows(const State& state, const Model& model, const SweepRun& run) {
  std::vector<Measurement> rows = run.rows;
  if (!state.view.bench.baseline.empty()) relate_to_baseline(rows, state.view.bench.baseline);
  if (const ListedRun* reference = find_run(model, state.document.runs.reference))
    relate_to_run(rows, reference->run.rows, words_of(state.document.runs, reference->run));
  return rows;
}

// The values of all, so that every chart and the list of values has each.
void share_values(BenchSlices& slices) {
  std::vector<std::int64_t> values;
  for (const BenchSlice& slice : slices) values.insert(values.end(), slice.values.begin(), slice.values.end());
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  for (BenchSlice& slice : slices) slice.values = values;
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

}  // namespace

ShownSlices shown_slices(const State& state, const Model& model, std::span<const Measurement> planned) {
  ShownSlices shown;
  const BenchRuns& list = state.document.runs;
  std::vector<const ListedRun*> runs = shown_runs(list, model);
  const bool letters = runs.size() > 1;
  const auto lead = std::find_if(runs.rbegin(), runs.rend(), [](const auto* r) { return !r->run.rows.empty(); });
  if (lead == runs.rend()) {
    shown.slices.push_back(planned_slice(state, planned, nullptr));
    return shown;
  }
  const auto add = [&](const ListedRun* r, const BenchSlice* as) {
    const auto at = std::find(runs.begin(), runs.end(), r) - runs.begin();
    const SweepRun& run = r->run;
    auto& rows = shown.rows.emplace_back(std::make_unique<std::vector<Measurement>>(related_rows(state, model, run)));
    BenchSlice slice = slice_rows(state.document.sweep, *rows, run.provenance.loaded, as);
    slice.run = run.id;
    slice.words = words_of(list, run);
    slice.file = run.provenance.file;
    slice.date = run.date.empty() ? run.provenance.date : run.date;
    slice.beside = as != nullptr;
    if (letters) slice.letter = std::string(1, static_cast<char>('A' + at));
    return slice;
  };
  shown.slices.push_back(add(*lead, nullptr));
  for (const ListedRun* r : runs)
    if (r != *lead && !r->run.rows.empty()) shown.slices.push_back(add(r, &shown.slices.front()));
  if (is_shown(list, kPredictedRun)) shown.slices.push_back(planned_slice(state, planned, &shown.slices.front()));
  share_values(shown.slices);
  return shown;
}

BenchScene bench_scene(const State& state, const Model& model, const BenchSwitches& switches,
                       std::string_view estimate_words, std::span<const Measurement> planned) {
  BenchScene scene;
  ShownSlices shown = shown_slices(state, model, planned);
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
  if (!beside.empty()) scene.verdict.reason += (scene.verdict.reason.empty() ? "" : " ") + beside;
  if (!scene.slice.letter.empty() && !scene.slice.planned)
    scene.verdict.headline = fmt::format("{}: {}", scene.slice.letter, scene.verdict.headline);
  if (scene.chosen) {
    for (const std::size_t i : {1U, 2U})
      scene.charts[i].span = span_at(scene.charts[i], scene.verdict.kernel, *scene.chosen);
  }
  scene.slice.rows.clear();  // they live no longer than this call
  for (BenchSlice& slice : scene.beside) slice.rows.clear();
  return scene;
}

}  // namespace attn
