#include "profiling/measure/gpu/compiled_figures.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "profiling/figures/metrics.h"

namespace attn {
namespace {

struct Row {
  std::string_view metric;
  double (*value)(const gpu::EntryReport&);
  bool min = false;  // of several launches the least counts
};

constexpr std::array kRows{
    Row{"occupancy_theoretical_pct", [](const gpu::EntryReport& e) { return e.occupancy.percent(); }, true},
    Row{"registers_count", [](const gpu::EntryReport& e) { return static_cast<double>(e.figures.registers); }},
    Row{"spill_bytes",
        [](const gpu::EntryReport& e) {
          return static_cast<double>(e.figures.spill_store_bytes) + e.figures.spill_load_bytes;
        }},
    Row{"shared_static_bytes", [](const gpu::EntryReport& e) { return static_cast<double>(e.figures.shared_bytes); }},
    Row{"shared_dynamic_bytes", [](const gpu::EntryReport& e) { return static_cast<double>(e.dynamic_bytes); }},
};

Figure* figure_at(Measurement& m, std::string_view metric) {
  m.figures.resize(metric_table().size());
  const auto index = find_metric(metric);
  return index ? &m.figures[*index] : nullptr;
}

std::string method_of(const Row& row, const gpu::EntryReport& chosen, std::size_t launches) {
  std::string words = row.min ? fmt::format("ptxas and the launch, limited by {}", chosen.occupancy.limiter)
                      : row.metric == "shared_dynamic_bytes" ? "the launch plan"
                                                             : "ptxas";
  if (row.metric == "registers_count" && !chosen.registers_then.empty())
    words += fmt::format("; at the start, then {} (setmaxnreg)", chosen.registers_then);
  if (launches > 1) {
    words += fmt::format("; the {} of {} launches: {}", row.min ? "least" : "most", launches, chosen.figures.name);
  }
  return words;
}

}  // namespace

void put_compiled_figures(Measurement& m, std::span<const gpu::EntryReport> entries) {
  if (entries.empty()) return;
  for (const Row& row : kRows) {
    const auto less = [&](const gpu::EntryReport& a, const gpu::EntryReport& b) { return row.value(a) < row.value(b); };
    const gpu::EntryReport& chosen = row.min ? *std::min_element(entries.begin(), entries.end(), less)
                                             : *std::max_element(entries.begin(), entries.end(), less);
    Figure* f = figure_at(m, row.metric);
    if (f == nullptr || f->available()) continue;
    *f = {Origin::compiled, row.value(chosen), method_of(row, chosen, entries.size()), ""};
    f->min_of_launches = row.min && entries.size() > 1;
    if (row.min) f->limiter = chosen.occupancy.limiter;
  }
}

void put_no_compiled_figures(Measurement& m, const std::string& reason) {
  for (const Row& row : kRows) {
    Figure* f = figure_at(m, row.metric);
    if (f != nullptr && !f->available()) *f = {Origin::not_available, 0, "", reason};
  }
}

}  // namespace attn
