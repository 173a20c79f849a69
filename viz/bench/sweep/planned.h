// What is known of a sweep before it runs: the plan of every point, without a time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiling/figures/measurement.h"
#include "profiling/spec/sweep_spec.h"
#include "viz/state/model.h"

namespace attn {

// One row a kernel and value, as the sweep would give it: workspace, predicted bytes, or why the kernel refuses.
// GPU kernels as on the sweep's architecture. Empty where the sweep is not valid. `kept`: what a sweep of tuned tiles
// takes; until it was looked up for this sweep its rows are refused, and say so.
std::vector<Measurement> planned_rows(const SweepSpec& sweep, const KeptTilesView& kept = {});
// Gives them what the compiler said of the same points (registers, shared memory, theoretical occupancy).
void add_compiled(std::vector<Measurement>& planned, std::span<const Measurement> compiled);

// Why no point of the sweep can run here, in words; empty = one can, or nobody knows yet. `planned`: of this sweep and
// these tiles.
std::string why_nothing_runs(const SweepSpec& sweep, const GpuView& gpus, std::span<const Measurement> planned,
                             const KeptTilesView& kept = {});

}  // namespace attn
