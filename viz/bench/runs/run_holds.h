// What a run holds, for the list of runs: a time alone tells it from no other.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "profiling/session/sweep_run.h"

namespace attn {

// "3 kernels, L, backward, H100": its kernels, of one its name; the axis along which its rows differ, none where they
// are of one point; its passes but forward alone; its devices. Behind it the same in less room. Empty without rows.
std::vector<std::string> run_holds(const SweepRun& run);
// Ids of the kernels that it has rows of; of others' attention none. Then those that it has a time of.
std::set<std::string> kernels_in(const SweepRun& run);
std::set<std::string> timed_kernels(const SweepRun& run);

}  // namespace attn
