// Which of a run's rows the sentences of Bench are about.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiling/figures/measurement.h"
#include "viz/bench/runs/slice.h"
#include "viz/state/state.h"

namespace attn {

bool has_time(const Measurement& m);
// What peers took is set against ours in their own turns; their rows are no kernels of ours.
bool is_of_a_peer(const Measurement& m);
bool is_wrong_row(const Measurement& m);
bool is_baseline_shown(const State& state, const Measurement& m);
// At that value of the axis, or at none.
std::vector<const Measurement*> timed_rows(const BenchSlice& slice, std::int64_t value);
// The kernel that is chosen everywhere, where it has a time, the baseline too; else the fastest that is not the
// baseline. One that has its like on its own device comes before one that has none. Null: there is none.
const Measurement* subject_of(const State& state, std::span<const Measurement* const> rows);
// The kernel that the strip over the charts speaks of; empty where no row of ours is timed and right at `value`.
std::string subject_kernel(const State& state, const BenchSlice& slice, std::int64_t value);

}  // namespace attn
