// What the metric table says of one metric.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

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

}  // namespace attn
