// A rung's own record of a run: its hooks (trace.cuh) compiled in, the buffer that they write, and what it becomes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/trace/recorders.h"
#include "kernels/model/inputs/input_spec.h"
#include "kernels/model/kernel.h"
#include "kernels/recording/recording.h"

namespace attn::gpu {

// What a rung's numbers are as its threads hold them.
struct TraceFacts {
  std::int32_t lanes = 0;  // flash orders: that share a row, each with its part of l
  Holds s, m, p;           // s: as the softmax takes it; before the mask it may still be
  bool products = false;   // Q K^T alone, without the scale
  bool exp2 = false;
  DType p_dtype = DType::f32;
  // As OnGpu has them.
  bool tf32x3 = false;
  float slack = 0, first_m = -std::numeric_limits<float>::infinity();
  bool sign_in_q = false;
  bool right_to_left = false;   // the last key tile comes first
  bool computes_again = false;  // rows that are not finite, by a way that keeps no tiles
};
// Of rungs that store S and P; of those that keep them, `lanes` a row; of the latter with both products in fragments of
// mma.sync, as flash_tile.cuh has them. A rung's row gives its own from these (KernelRow::trace).
TraceFacts stored_facts(const Problem& p);
TraceFacts flash_facts(std::int32_t lanes);
TraceFacts fragment_facts(const Problem& p);
// None: the rung has no recorder yet. `resolved` as a plan has them.
std::optional<TraceFacts> trace_facts(const KernelRow& row, const Problem& p, const Options& resolved);

// The buffer would be larger than this: refused.
constexpr std::uint64_t kTraceLimit = 256ULL << 20;
// Floats that a traced run of the plan writes into.
std::uint64_t trace_floats(const Plan& plan, const TraceFacts& facts);

// The plan can be recorded: its rung has a recorder and its text the hooks, and neither the buffer nor the recording is
// too large. `source` as kernel_source() gives it.
Result<void> check_traceable(const Plan& plan, const KernelSource& source);

// The options of the recording: tiles as they are, or cut for the file.
Options recorded_options(const Plan& plan);

// What the compilation of hooks needs beside the plan's own defines.
void add_traced_defines(const Plan& plan, std::vector<std::string>& defines);

// The recording that a traced run's buffer is. `inputs` are those of the run; `out` is what it wrote.
Result<Recording> recording_of_trace(const Plan& plan, const Inputs& inputs, Outputs out, std::span<const float> trace,
                                     const std::string& device, const std::string& uuid);

}  // namespace attn::gpu
