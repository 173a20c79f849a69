// Figures of origin "compiled": what ptxas and the occupancy table say of a plan, with or without a GPU.
#pragma once

#include <span>
#include <string>

#include "kernels/gpu/rungs/inspect.h"
#include "profiling/figures/measurement.h"

namespace attn {

// Registers, shared memory, spills and theoretical occupancy of the plan's launches: of several, the launch that
// takes most (of occupancy: the one that has least), which the figure's method names. Figures that are there already
// stay. Call fill_figures afterwards.
void put_compiled_figures(Measurement& m, std::span<const gpu::EntryReport> entries);
// The same figures, not available for this reason.
void put_no_compiled_figures(Measurement& m, const std::string& reason);

}  // namespace attn
