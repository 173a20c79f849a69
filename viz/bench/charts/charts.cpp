// The four charts: which lines, which points, which range.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "kernels/base/text.h"
#include "kernels/ladder.h"
#include "viz/bench/charts/ideal_scaling.h"
#include "viz/bench/charts/memory_limit.h"
#include "viz/bench/runs/source_words.h"
#include "viz/bench/scene/bench_scene.h"
#include "viz/bench/sweep/sweep_fields.h"
#include "viz/draw/figure_text.h"
#include "viz/state/run_words.h"

namespace attn {

namespace {

constexpr double kFarApart = 1000;  // times: on a linear axis the least would lie on its foot

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

BenchLine line_of(const State& state, const BenchSlice& slice, const std::string& kernel, std::string_view metric,
                  const BenchUnit& unit) {
  BenchLine line;
  line.kernel = kernel;
  line.id = line_id_of(slice, kernel);
  line.label = label_of(slice, kernel);
  line.order = slice.letter.empty() ? 0 : static_cast<std::size_t>(slice.letter.front() - 'A');
  line.dotted = slice.planned;
  line.beside = slice.beside;
  line.emphasised = kernel == bench_kernel(state) && !slice.beside;
  line.hollow = slice.loaded;
  for (const Measurement* m : slice.rows) {
    if (m->key.kernel != kernel) continue;
    line.peer = m->peer.has_value();
    line.open = m->processor == Processor::cpu;
    line.baseline = kernel == baseline_shown(state, *m) && !slice.beside;
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

std::string why_empty(const State& state, const Model& model, const BenchSlices& slices, std::string_view metric) {
  const BenchSlice& slice = slices.front();
  if (model.task.running && slice.planned) return tr("The first point is being measured.");
  if (slice.planned) {
    if (!model.gpu.why_nothing.empty()) return tr("Tick a run to draw this chart.");
    if (state.document.sweep.kernels.empty()) return tr("Tick a kernel, then press Run.");
    const auto at = find_metric(metric);
    return at ? phrase("{} of each kernel. Press Run to draw this chart.", tr_of(metric_table()[*at].label))
              : tr("Press Run to draw this chart.");
  }
  for (const Measurement* m : slice.rows) {
    const Figure& f = figure(*m, metric);
    if (!f.available() && m->time.n > 0) return phrase("Not available: {}", sentence(f.reason));
  }
  return tr("No row has a value for this metric. The table says why.");
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

bool has_gpu_rows(const BenchSlices& slices) {
  return std::any_of(slices.begin(), slices.end(), [](const BenchSlice& s) {
    return std::any_of(s.rows.begin(), s.rows.end(), [](const auto* m) { return m->processor == Processor::gpu; });
  });
}

std::optional<bool> log_of(const BenchSwitches& switches, std::string_view metric) {
  const auto at = switches.log.find(metric);
  return at == switches.log.end() ? std::nullopt : std::optional(at->second);
}

// Dotted lines of one kernel of one run stand for every run that has it: a prediction hangs on no run.
class OncePerKernel {
 public:
  bool first(const std::string& kernel) {
    if (std::find(seen_.begin(), seen_.end(), kernel) != seen_.end()) return false;
    seen_.push_back(kernel);
    return true;
  }

 private:
  std::vector<std::string> seen_;
};

// Of a kernel of several launches the least of theirs is known: no ceiling of the average over all.
void drop_least_of_launches(const BenchSlice& slice, BenchLine& line) {
  std::erase_if(line.points, [&](const BenchPoint& p) {
    const Measurement* m = row_at(slice, line.kernel, p.x);
    const bool least = m != nullptr && figure(*m, "occupancy_theoretical_pct").min_of_launches;
    return least && p.y < 99.95;  // more than all cannot be
  });
}

// Dotted beside what was achieved, or alone with the marks of its kernel where nothing was.
void add_theoretical(const State& state, const BenchSlices& slices, const BenchUnit& unit, BenchChart& chart) {
  OncePerKernel kernels;
  for (const BenchSlice& slice : slices) {
    for (const std::string& kernel : kernels_of(slice)) {
      BenchLine line = line_of(state, slice, kernel, "occupancy_theoretical_pct", unit);
      drop_least_of_launches(slice, line);
      if (line.points.empty() || (slice.run != kPredictedRun && !kernels.first(kernel))) continue;
      const bool beside =
          std::any_of(chart.lines.begin(), chart.lines.end(), [&](const auto& l) { return l.id == line.id; });
      line.dotted = true;
      if (beside) line.label += tr(", theoretical");
      chart.lines.push_back(std::move(line));
    }
  }
  chart.dotted = tr("predicted: theoretical occupancy");
}

BenchChart metric_chart(const State& state, const Model& model, const BenchSlices& slices, std::string_view metric_id,
                        const BenchSwitches& switches) {
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
  chart.title = std::string(tr_of(metric.label));
  for (const BenchSlice& slice : slices) {
    for (const std::string& kernel : kernels_of(slice)) {
      BenchLine line = line_of(state, slice, kernel, metric.id, unit);
      if (!line.points.empty()) chart.lines.push_back(std::move(line));
    }
  }
  chart.dotted = tr("predicted for the planned sweep");
  if (metric.id == "occupancy_achieved_pct") add_theoretical(state, slices, unit, chart);
  const bool all_zero = std::all_of(chart.lines.begin(), chart.lines.end(), [](const BenchLine& line) {
    return std::all_of(line.points.begin(), line.points.end(), [](const BenchPoint& p) { return p.y == 0; });
  });
  if (chart.lines.empty()) {
    chart.empty = why_empty(state, model, slices, metric.id);
  } else if (all_zero) {
    chart.lines.clear();
    chart.empty = tr("0 for every kernel at every point.");
  }
  bool log_by_itself = metric.id == "time_us_median" || (r.any && r.max >= kFarApart * r.min);
  const bool limited = asks_memory_limit(metric.id) && has_gpu_rows(slices) && !chart.lines.empty();
  const auto memory = limited ? gpu_memory(state, model, slices) : std::nullopt;
  if (memory && !slices.front().values.empty()) {
    chart.lines.push_back(memory_line(*memory, slices.front(), unit));
    log_by_itself = true;  // the limit may lie far above
  }
  auto ideal = chart.lines.empty() ? std::nullopt : ideal_line(slices.front(), metric.id, unit);
  const bool ideally = ideal.has_value();
  if (ideal) chart.lines.push_back(*std::move(ideal));
  chart.log_y = log_of(switches, metric.id).value_or(log_by_itself) && !chart.lines.empty();
  set_range(chart);
  std::vector<std::string> rest;
  if (metric.better == Better::up) rest.emplace_back(tr("higher is better"));
  if (metric.better == Better::down) rest.emplace_back(tr("lower is better"));
  if (std::ranges::any_of(chart.lines, &BenchLine::peer)) rest.emplace_back(tr("dashed: peers, timed alternately"));
  if (ideally) rest.emplace_back(ideal_words(metric.id));
  if (memory)
    if (std::string words = no_longer_fits(*memory, slices.front()); !words.empty()) rest.push_back(std::move(words));
  if (limited && !memory) rest = {tr("there is no GPU here, so no memory limit is drawn")};
  add_note(chart, unit.name, fmt::format("{}", fmt::join(rest, "; ")));
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

// Measured DRAM bytes and, dotted, the least that each order must move. A kernel that was not counted has the least
// alone.
void measured_bytes_lines(const State& state, const BenchSlice& slice, const BenchUnit& unit, OncePerKernel& kernels,
                          BenchChart& chart) {
  for (const std::string& kernel : kernels_of(slice)) {
    BenchLine dram = dram_line(state, slice, kernel, unit);
    BenchLine min = line_of(state, slice, kernel, "compulsory_bytes", unit);
    const bool counted = !dram.points.empty(), predicted = slice.run == kPredictedRun;
    min.dotted = true;
    if (counted) min.label += tr(", minimum");
    if (!counted && !predicted) min.label += tr(", predicted");
    if (!kernels.first(kernel) && (counted || predicted)) min.points.clear();  // the same in every run
    if (counted) chart.lines.push_back(std::move(dram));
    if (!min.points.empty()) chart.lines.push_back(std::move(min));
  }
}

// Tile loads predicted (dotted), of a kernel once, and the least that any of these kernels must move, as a bound.
void predicted_bytes_lines(const State& state, const BenchSlice& slice, const BenchUnit& unit, OncePerKernel& kernels,
                           BenchChart& chart) {
  BenchLine floor;
  for (const std::string& kernel : kernels_of(slice)) {
    BenchLine tiles = line_of(state, slice, kernel, "tile_load_bytes", unit);
    tiles.dotted = true;
    const BenchLine once = line_of(state, slice, kernel, "compulsory_bytes", unit);
    if (!once.points.empty() && (floor.points.empty() || once.points.front().y < floor.points.front().y)) floor = once;
    const bool told = !kernels.first(kernel) && slice.run == kPredictedRun;
    if (!tiles.points.empty() && !told) chart.lines.push_back(std::move(tiles));
  }
  if (floor.points.empty() || slice.beside) return;
  floor.kernel.clear();
  floor.label = floor.id = tr("each once");
  floor.bound = true;
  floor.dotted = floor.baseline = floor.emphasised = false;
  chart.lines.push_back(std::move(floor));
}

// What the unit follows. Rows may lack what is drawn else: a backward's tile loads, the least of a kernel of one's own.
double most_bytes(const BenchSlices& slices, bool measured) {
  const double least = range_of(slices, "compulsory_bytes").max;
  if (!measured) return std::max(range_of(slices, "tile_load_bytes").max, least);
  return least > 0 ? least : range_of(slices, "dram_read_bytes").max;
}

BenchChart bytes_chart(const State& state, const Model& model, const BenchSlices& slices,
                       const BenchSwitches& switches) {
  BenchChart chart;
  const bool measured = range_of(slices, "dram_read_bytes").any;
  chart.title = measured || !has_gpu_rows(slices) ? tr("DRAM bytes") : tr("HBM bytes");  // a CPU has no HBM
  const BenchUnit unit = bytes_unit(most_bytes(slices, measured));
  OncePerKernel kernels;
  for (const BenchSlice& slice : slices)
    measured ? measured_bytes_lines(state, slice, unit, kernels, chart)
             : predicted_bytes_lines(state, slice, unit, kernels, chart);
  if (chart.lines.empty()) chart.empty = why_empty(state, model, slices, "tile_load_bytes");
  chart.log_y = log_of(switches, kDramBytes).value_or(true) && !chart.lines.empty();
  set_range(chart);
  chart.dotted = measured ? tr("predicted: the minimum for its order") : tr("predicted: all tile loads");
  add_note(chart, chart.lines.empty() ? "" : unit.name, measured ? tr("read and written; lower is better") : "");
  return chart;
}

// "2.1 times as fast as the same kernel in X".
void name_reference(const State& state, const Model& model, BenchChart& chart) {
  const ListedRun* reference = find_run(model, state.document.runs.reference);
  chart.title = tr("Against run");
  if (reference == nullptr || chart.lines.empty()) return;
  chart.unit = tr("×");
  chart.note = phrase("speed relative to {}", words_of(state.document.runs, reference->run));
}

// "speed relative to naive, cpu_multicore, each for its device and pass"
void name_baselines(const State& state, const BenchSlices& slices, BenchChart& chart) {
  std::vector<std::string> over;
  for (const BenchSlice& slice : slices) {
    for (const Measurement* m : slice.rows) {
      if (slice.planned && slices.size() > 1) continue;
      std::string id = baseline_shown(state, *m);
      if (std::find(over.begin(), over.end(), id) == over.end()) over.push_back(std::move(id));
    }
  }
  chart.title = tr("Speed-up");
  chart.unit = chart.lines.empty() ? "" : tr("×");
  chart.note = phrase("speed relative to {}{}", fmt::join(over, ", "),
                      over.size() > 1 ? tr(", each for its device and pass") : "");
}

BenchChart chart_of(const State& state, const Model& model, const BenchSlices& slices, const std::string& metric,
                    const BenchSwitches& switches) {
  BenchChart chart = metric == kDramBytes ? bytes_chart(state, model, slices, switches)
                                          : metric_chart(state, model, slices, metric, switches);
  chart.metric = metric;
  chart.source = short_source_words(slices);
  chart.source_all = source_words(slices);
  const bool dotted = std::any_of(chart.lines.begin(), chart.lines.end(), [](const auto& l) { return l.dotted; });
  if (!dotted) chart.dotted.clear();
  for (BenchLine& line : chart.lines)
    line.bare = line.dotted && std::any_of(chart.lines.begin(), chart.lines.end(), [&](const BenchLine& other) {
                  return !other.dotted && !other.kernel.empty() && other.kernel == line.kernel;
                });
  if (metric == "tflops") chart.title = tr("Throughput");
  if (metric == "occupancy_achieved_pct") chart.title = tr("Occupancy");
  if (metric == "occupancy_achieved_pct" && !chart.lines.empty()) chart.note = tr("% of the warps that an SM can hold");
  if (metric == "against_run_ratio") name_reference(state, model, chart);
  if (metric == "speedup_ratio") name_baselines(state, slices, chart);
  const bool whiskers = std::ranges::any_of(chart.lines, [](const BenchLine& line) {
    return std::ranges::any_of(line.points, [](const BenchPoint& p) { return p.low < p.high; });
  });
  if (whiskers || (metric == "time_us_median" && !chart.lines.empty())) chart.note += tr("; whiskers: quartiles");
  return chart;
}

}  // namespace

Result<void> check_chart_metric(std::string_view id) {
  const auto metric = bench_metric(id);
  return metric ? ok() : tl::unexpected(metric.error());
}

Result<BenchMetric> bench_metric(std::string_view id) {
  if (id == kDramBytes)
    return BenchMetric{std::string(kDramBytes), tr("DRAM bytes"),
                       tr("Bytes read from and written to main memory, compared with the predictions."),
                       MetricGroup::memory};
  const auto at = find_metric(id);
  if (!at) return tl::unexpected(at.error());
  const MetricRow& metric = metric_table()[*at];
  return BenchMetric{std::string(metric.id), std::string(tr_of(metric.label)), std::string(tr_of(metric.help)),
                     metric.group};
}

std::string metric_of_chart(const State& state, const BenchSlices& slices, std::size_t chart) {
  const std::string& chosen = state.view.bench.charts.at(chart);
  if (!chosen.empty()) return chosen;
  const bool on_gpu = has_gpu_rows(slices);
  constexpr std::array<std::string_view, kBenchCharts> kUsual{"time_us_median", kDramBytes, "occupancy_achieved_pct",
                                                              "tflops"};
  return std::string(chart == 2 && !on_gpu ? std::string_view("speedup_ratio") : kUsual.at(chart));
}

std::array<BenchChart, kBenchCharts> bench_charts(const State& state, const Model& model, const BenchSlices& slices,
                                                  const BenchSwitches& switches) {
  constexpr std::array<const char*, kBenchCharts> kIds{"time", "bytes", "occupancy", "picked"};
  std::array<BenchChart, kBenchCharts> charts;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    charts[i] = chart_of(state, model, slices, metric_of_chart(state, slices, i), switches);
    charts[i].id = kIds[i];
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

}  // namespace attn
