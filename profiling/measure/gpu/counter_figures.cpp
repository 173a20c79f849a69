#include "profiling/measure/gpu/counter_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profiling/figures/metrics.h"

namespace attn {

std::vector<CounterNames> table_counters() {
  std::vector<CounterNames> all;
  for (const MetricRow& row : metric_table()) {
    if (!row.counters.empty()) all.push_back(row.counters);
  }
  return all;
}

void put_counts(Measurement& m, const Counts& counts, const std::string& version) {
  const auto table = metric_table();
  m.figures.resize(table.size());
  std::size_t next = 0;
  for (std::size_t n = 0; n < table.size(); ++n) {
    if (table[n].counters.empty() || next >= counts.values.size()) continue;
    const Counted& counted = counts.values[next++];
    if (counted.name.empty()) {
      m.figures[n] = {Origin::not_available, 0, "",
                      fmt::format("{} has no counter {}", counts.chip, fmt::join(table[n].counters, " or "))};
      continue;
    }
    m.figures[n] = {Origin::measured, counted.value,
                    fmt::format("{}, {}, {} L2, {} pass{} in {:.2f} s", version, counted.name, name_of(m.key.l2),
                                counts.passes, counts.passes == 1 ? "" : "es", counts.seconds),
                    ""};
  }
}

void put_no_counts(Measurement& m, const std::string& reason) {
  const auto table = metric_table();
  m.figures.resize(table.size());
  for (std::size_t n = 0; n < table.size(); ++n) {
    if (!table[n].counters.empty()) m.figures[n] = {Origin::not_available, 0, "", reason};
  }
}

}  // namespace attn
