// Between the metric table and a profiler: which counters the table asks for, and figures from what was counted.
#pragma once

#include <string>
#include <vector>

#include "profiling/cupti/profiler.h"
#include "profiling/figures/measurement.h"

namespace attn {

// The counters of the table's rows that have some, in table order.
std::vector<CounterNames> table_counters();

// Figures of those rows. `version` of the profiler; what the chip lacks says so. Call fill_figures afterwards.
void put_counts(Measurement& m, const Counts& counts, const std::string& version);
// The same figures, not available for this reason.
void put_no_counts(Measurement& m, const std::string& reason);

}  // namespace attn
