// A kernel that was asked for, in the menu, by its tick or by a row, and that what is shown has no row of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiling/spec/sweep_spec.h"
#include "viz/bench/runs/slice.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// One press, after which charts and table have its row. Nothing to press without words.
struct WayToKernel {
  std::string words, help;            // "Show the f16 rows", "Open h100-hopper"
  std::string run;                    // to be ticked; empty: none
  std::optional<SweepSpec> sweep;     // in place of the one that is set up
  std::optional<std::int64_t> value;  // of the axis
  bool all_rows = false;              // the filter of the rows goes
};
struct AbsentKernel {
  std::string words;  // why, for the strip; empty where nothing is missing
  WayToKernel way;
};

// `subject`: the kernel that the strip speaks of.
AbsentKernel absent_kernel(const State& state, const Model& model, const BenchSlices& slices,
                           std::optional<std::int64_t> chosen, const std::string& subject);

// How runs that can be opened are ranked: those of this machine before those that came with the program, and those with
// the most kernels first. `kernels`: how many it has.
bool opens_before(const ListedRun& a, std::size_t kernels_of_a, const ListedRun& b, std::size_t kernels_of_b);

}  // namespace attn
