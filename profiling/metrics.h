// The one metric table: panels, CSV, JSON, docs and tests read it. One row a metric.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/result.h"
#include "profiling/measurement.h"

namespace attn {

enum class Better : std::uint8_t { up, down, neither };

enum class MetricGroup : std::uint8_t { time, memory, occupancy, shared_memory, compute, correctness, prediction };

struct MetricRow {
  std::string_view id;      // "dram_read_bytes": CSV column and JSON key; carries the unit
  std::string_view label;   // "DRAM read"
  std::string_view unit;    // "B", "us", "%", "TFLOP/s", "1"
  MetricGroup group = MetricGroup::time;
  Better better = Better::neither;
  std::string_view help;    // one sentence
  std::string_view formula; // how it is derived; empty = read directly
  // CUPTI metrics, first that the chip has wins; empty = not from a counter.
  std::span<const std::string_view> counters;
  // Computes the figure of a CPU or derived metric from what is known; null = counters only.
  Figure (*compute)(const Measurement&) = nullptr;
};

std::span<const MetricRow> metric_table();
Result<std::size_t> find_metric(std::string_view id);

// Fills m.figures, one a metric, in table order. What cannot be had says why.
void fill_figures(Measurement& m);
const Figure& figure(const Measurement& m, std::string_view metric_id);

}  // namespace attn
