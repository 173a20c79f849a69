// What a sweep will ask of the machine, before it is run.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "profiling/spec/sweep_spec.h"

namespace attn {

// Bytes of the largest point in either memory, and a time from the FLOPs and the rates that `known` rows of the same
// kernels reached. Where a kernel's rate is not known yet the time is what the limit of each point comes to, and
// `words` say so.
struct SweepEstimate {
  std::uint64_t max_bytes = 0, max_gpu_bytes = 0;
  double seconds = 0;
  bool from_rates = false;
  std::string words;
};
SweepEstimate estimate(const SweepSpec& s, std::span<const Measurement> known = {});
// With rows of the caller's own in place of spec.kernels, the user's own kernels among them.
SweepEstimate estimate(const SweepSpec& s, std::span<const KernelRow* const> rows, std::span<const Measurement> known);

}  // namespace attn
