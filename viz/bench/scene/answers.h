// Questions about what is measured that no chart answers at one glance, in words: the palette shows them.
#pragma once

#include <string>

#include "profiling/figures/measurement.h"
#include "viz/state/model.h"
#include "viz/state/state.h"

namespace attn {

// From which L on the kernels that store S and P ask for more memory than the GPU has, by their plans: the problem of
// the sweep, L alone varied. The GPU is the sweep's, else that of the run that is shown, else one of a usual size.
std::string memory_answer(const State& state, const Model& model);
// Why the kernel whose tiles are looked at takes its tile: what that takes of an SM, and what the next larger would.
std::string tile_answer(const State& state, const Model& model);
// What the ranks of the largest ring that is shown did with their time.
std::string ranks_answer(const State& state, const Model& model);
// Device, driver, CUDA's compiler and counters, and this program, of each run that is shown; else of this machine.
std::string versions_answer(const State& state, const Model& model);

// "Driver for CUDA 13.0. NVRTC 13.0, CUPTI 28.", a line each of what is known.
std::string versions_words(const Provenance& p);

}  // namespace attn
