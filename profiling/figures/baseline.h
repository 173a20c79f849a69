// Speed-up: which row each row is set against, in its own run and in another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiling/figures/measurement.h"

namespace attn {

// Gives each row the median of its baseline (same problem, device and L2 state; among several the one with the same
// number of threads, else the last) and fills its figures again. `rows` is one session's.
void relate_to_baseline(std::span<Measurement> rows);
// Over a kernel of the user's choice: rows of its processor and pass take it, the others keep their default.
void relate_to_baseline(std::span<Measurement> rows, std::string_view chosen);
// The same for one row.
void relate_to_baseline(Measurement& m, std::span<const Measurement> rows);
void relate_to_baseline(Measurement& m, std::span<const Measurement> rows, std::string_view chosen);

// What the layout of K and V costs: the median of `m` over that of a row of the same kernel, options, device and L2
// state that has the same problem without pages, or with as many keys spread evenly over its batches. None where `m`
// is no such row, or where `rows` have none to set it against.
std::optional<double> over_contiguous(const Measurement& m, std::span<const Measurement> rows);
std::optional<double> over_even(const Measurement& m, std::span<const Measurement> rows);
// Which rows have such a ratio. Uneven: batches differ in their number of keys by more than whole keys make them.
bool has_pages(const Problem& p);
bool has_uneven_keys(const Problem& p);
// Gives a row both as figures, from the first of `runs` that has a row to set it against; else they say why not.
using RowsOfRuns = std::vector<std::span<const Measurement>>;
void relate_to_layouts(Measurement& m, const RowsOfRuns& runs);
// Whether that leaves the row as it is, whatever the runs: it is of no such layout, and its figures say so.
bool is_of_plain_layout(const Measurement& m);
// The figures in words: "1.020× the time with contiguous K and V (derived)"; empty: neither.
std::string layout_words(const Measurement& m);

// Gives each row the median of the same kernel on the same problem in another run, called `words`, and fills its
// figures again. Device and L2 state may differ: that is what runs are compared for. Options may not, unless the
// reference has one row of that kernel and problem alone. Empty `words`: no run is chosen.
void relate_to_run(std::span<Measurement> rows, std::span<const Measurement> reference, std::string_view words);

}  // namespace attn
