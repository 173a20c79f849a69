// The one metric table: panels, CSV, JSON, docs and tests read it. One row a metric.
//
// How to add a metric: add its row to kMetrics in metrics.cpp (and, if it is derived, its function just above; if its
// unit is the first of its kind, that to kUnits).
// Nothing else knows the list.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernels/base/result.h"
#include "profiling/figures/measurement.h"
#include "profiling/figures/metric_row.h"

namespace attn {

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

// From which share on something is what holds a kernel back, in percent.
constexpr double kDramBusy = 60;      // of a plain copy
constexpr double kMultiplyBusy = 70;  // of the multiply-add peak
constexpr double kTensorBusy = 70;    // of the tensor cores' cycles

// Fills m.figures, one a metric, in table order. What cannot be had says why. What a counter or the compiler has put
// there already (a value or a reason, and the row has no `compute`) stays.
void fill_figures(Measurement& m);
// The figure of that metric; a figure "not available" for an unknown id or a row that was not filled.
const Figure& figure(const Measurement& m, std::string_view metric_id);

// Why there is no such figure, in the language that is spoken; rows keep it in English.
std::string said_reason(const Figure& f);

// Baseline of the speed-up column: cpu_multicore among CPU kernels, naive among GPU kernels. Of another pass the
// backward, or the training step, that belongs to it.
std::string_view baseline_of(Processor processor, Pass pass);

}  // namespace attn
