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

Range range_of(const BenchSlice& slice, std::string_view metric) {
  Range r;
  for (const Measurement* m : slice.rows) {
    if (const Figure& f = figure(*m, metric); f.available() && f.value > 0) r.take(f.value);
  }
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
  line.kernel = line.label = kernel;
  line.emphasised = kernel == bench_kernel(state);
  line.hollow = slice.loaded;
  for (const Measurement* m : slice.rows) {
    if (m->key.kernel != kernel) continue;
    line.open = m->processor == Processor::cpu;
    line.baseline = kernel == baseline_shown(state, m->processor);
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

std::string why_empty(const Model& model, const BenchSlice& slice, std::string_view metric) {
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

BenchChart metric_chart(const State& state, const Model& model, const BenchSlice& slice, std::string_view metric_id,
                        std::optional<bool> log, bool log_by_itself) {
  BenchChart chart;
  const auto at = find_metric(metric_id);
  if (!at) {
    chart.title = std::string(metric_id);
    chart.empty = at.error().message;
    return chart;
  }
  const MetricRow& metric = metric_table()[*at];
  const Range r = range_of(slice, metric.id);
  const BenchUnit unit = unit_of(metric, r.min, r.max);
  chart.title = std::string(metric.label);
  chart.log_y = log.value_or(log_by_itself) && r.any;
  for (const std::string& kernel : kernels_of(slice)) {
    BenchLine line = line_of(state, slice, kernel, metric.id, unit);
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  if (chart.lines.empty()) chart.empty = why_empty(model, slice, metric.id);
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
    const BenchLine once = line_of(state, slice, kernel, "compulsory_bytes", unit);
    if (!once.points.empty() && (floor.points.empty() || once.points.front().y < floor.points.front().y)) floor = once;
    if (!tiles.points.empty()) chart.lines.push_back(std::move(tiles));
  }
  if (floor.points.empty()) return;
  floor.kernel.clear();
  floor.label = "each once";
  floor.dotted = true;
  floor.baseline = floor.emphasised = false;
  chart.lines.push_back(std::move(floor));
}

BenchChart bytes_chart(const State& state, const Model& model, const BenchSlice& slice, std::optional<bool> log) {
  BenchChart chart;
  const bool measured = range_of(slice, "dram_read_bytes").any;
  chart.title = measured ? "DRAM bytes" : "HBM bytes";
  const BenchUnit unit = bytes_unit(range_of(slice, measured ? "compulsory_bytes" : "tile_load_bytes").max);
  measured ? measured_bytes_lines(state, slice, unit, chart) : predicted_bytes_lines(state, slice, unit, chart);
  if (chart.lines.empty()) chart.empty = why_empty(model, slice, "tile_load_bytes");
  chart.log_y = log.value_or(true) && !chart.lines.empty();
  set_range(chart);
  add_note(chart, chart.lines.empty() ? "" : unit.name,
           measured ? "read and written; dotted: the least of its order" : "predicted: every tile load");
  return chart;
}

}  // namespace

std::string_view picked_metric(const State& state) {
  const std::string& id = state.view.bench.metric;
  return id == "time_us_median" || !find_metric(id) ? std::string_view("speedup_ratio") : std::string_view(id);
}

std::array<BenchChart, 4> bench_charts(const State& state, const Model& model, const BenchSlice& slice,
                                       const BenchSwitches& switches) {
  std::array<BenchChart, 4> charts{metric_chart(state, model, slice, "tflops", switches.log[0], false),
                                   metric_chart(state, model, slice, "time_us_median", switches.log[1], true),
                                   bytes_chart(state, model, slice, switches.log[2]),
                                   metric_chart(state, model, slice, picked_metric(state), switches.log[3], false)};
  constexpr std::array<const char*, 4> kIds{"throughput", "time", "bytes", "picked"};
  for (std::size_t i = 0; i < charts.size(); ++i) {
    charts[i].id = kIds[i];
    charts[i].source = source_words(model, slice);
  }
  charts[0].title = "Throughput";
  if (!charts[1].lines.empty()) charts[1].note += "; whiskers: quartiles";
  charts[3].picks_metric = true;
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
    if (line.kernel.empty() || line.kernel != kernel || to != nullptr) continue;
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
std::vector<std::string> pickable_metrics(const BenchSlice& slice) {
  std::vector<std::string> ids;
  for (const MetricRow& metric : metric_table()) {
    const bool any = std::any_of(slice.rows.begin(), slice.rows.end(),
                                 [&](const Measurement* m) { return figure(*m, metric.id).available(); });
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

}  // namespace

BenchScene bench_scene(const State& state, const Model& model, const BenchSwitches& switches,
                       std::string_view estimate_words, std::span<const Measurement> planned) {
  BenchScene scene;
  std::vector<Measurement> related;  // with the speed-ups over the user's baseline
  if (model.measurements.empty()) {
    scene.slice = slice_rows(state.document.sweep, planned, false);
    scene.slice.planned = true;
  } else if (state.view.bench.baseline.empty()) {
    scene.slice = slice_rows(state.document.sweep, model.measurements, model.provenance.loaded);
  } else {
    related = model.measurements;
    relate_to_baseline(related, state.view.bench.baseline);
    scene.slice = slice_rows(state.document.sweep, related, model.provenance.loaded);
  }
  scene.kernels = kernels_of(scene.slice);
  scene.axis_letter = std::string(axis_letter(scene.slice.axis));
  scene.chosen = chosen_value(scene.slice, state.view.bench.value);
  set_ticks(scene);
  scene.metrics = pickable_metrics(scene.slice);
  scene.charts = bench_charts(state, model, scene.slice, switches);
  scene.table = bench_table(state, model, scene.slice, scene.chosen, switches);
  scene.verdict = bench_verdict(state, model, scene.slice, scene.chosen, estimate_words);
  if (scene.chosen) {
    for (const std::size_t i : {1U, 2U})
      scene.charts[i].span = span_at(scene.charts[i], scene.verdict.kernel, *scene.chosen);
  }
  scene.slice.rows.clear();  // they live no longer than this call
  return scene;
}

}  // namespace attn
