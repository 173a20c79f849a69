// What pages and ragged batches cost, of all rows of several runs.
#pragma once

#include <span>

#include "profiling/figures/baseline.h"
#include "profiling/session/sweep_run.h"

namespace attn {

// The rows of a run, then those of the others of `runs`, in their order.
RowsOfRuns rows_among(const SweepRun& own, std::span<const SweepRun> runs);

// Gives every row its ratios over the rows of its own run, else over those of the others, in their order
// (profiling/figures/baseline.h). For whoever shows or writes rows: a run grows, and the row that another is set
// against may come after it.
void relate_to_layouts(std::span<SweepRun> runs);

}  // namespace attn
