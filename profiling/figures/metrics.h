// The one metric table: panels, CSV, JSON, docs and tests read it. One row a metric.
//
// How to add a metric: add its row to kMetrics in metrics.cpp (and, if it is derived, its function just above; if its
// unit is the first of its kind, that to kUnits).
// Nothing else knows the list.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"

namespace attn {

enum class Better : std::uint8_t { up, down, neither };

enum class MetricGroup : std::uint8_t { time, memory, occupancy, shared_memory, compute, correctness, prediction };
std::string_view name_of(MetricGroup g);  // "time", "shared memory", ...: what panels call it

struct MetricRow {
  std::string_view id;     // "dram_read_bytes": CSV column and JSON key; carries the unit
  std::string_view label;  // "DRAM read"
  std::string_view unit;   // "B", "us", "%", "TFLOP/s", "1"
  MetricGroup group = MetricGroup::time;
  Better better = Better::neither;
  std::string_view help;     // one sentence
  std::string_view formula;  // how it is derived; empty = read directly
  // CUPTI metrics, first that the chip has wins; empty = not from a counter.
  std::span<const std::string_view> counters;
  // Computes the figure of a CPU or derived metric from what is known; null = counters or compiler only.
  // It may read what was counted or compiled, and of the computed figures those further up in the table.
  Figure (*compute)(const Measurement&) = nullptr;
  // Why a CPU row has none and what would change it; empty = `compute` says.
  std::string_view not_on_cpu = {};
};

std::span<const MetricRow> metric_table();

// A unit, and how an id says it: one of these words stands in the id of each metric that has the unit.
struct MetricUnit {
  std::string_view name;  // "us"
  std::array<std::string_view, 3> in_id;
};
std::span<const MetricUnit> metric_units();
Result<std::size_t> find_metric(std::string_view id);

// Percent of the cycles (tensor_pipe_pct): below it the tensor cores hardly take part, and the products run elsewhere.
constexpr double kTensorWorks = 5;

// Fills m.figures, one a metric, in table order. What cannot be had says why. What a counter or the compiler has put
// there already (a value or a reason, and the row has no `compute`) stays.
void fill_figures(Measurement& m);
// The figure of that metric; a figure "not available" for an unknown id or a row that was not filled.
const Figure& figure(const Measurement& m, std::string_view metric_id);

// Baseline of the speed-up column: cpu_multicore among CPU kernels, naive among GPU kernels.
std::string_view baseline_of(Processor processor);

}  // namespace attn
