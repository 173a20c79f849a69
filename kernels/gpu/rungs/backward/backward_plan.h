// What the GPU's rungs of a backward share on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gpu/rungs/backward/backward_args.h"
#include "kernels/model/kernel.h"

namespace attn::gpu {

inline constexpr Option kDeterministic{.name = "deterministic",
                                       .title = marked("deterministic"),
                                       .help = marked("Whether dQ is summed in a fixed order, so that its bits are "
                                                      "reproducible"),
                                       .choices = known::kNoYes};

// Rows of a head in the lists of one number a row: whole query tiles, Lq where the rung has no tiles.
std::int64_t padded_rows(const Problem& p, const Options& resolved);

// Where things lie behind what every rung keeps in its workspace, in bytes. Saturates at 2^63 - 1.
struct BackwardWorkspace {
  std::uint64_t shift = 0, delta = 0, d_q_sum = 0, turns = 0, total = 0;
};
BackwardWorkspace backward_workspace_of(const KernelRow& row, const Problem& p, const Options& resolved);

BackwardArgs backward_args_of(const Plan& plan, const Buffers& buffers);

// common_row() of a backward alone.
KernelRow backward_row();
// plan_of() with the workspace of a backward.
Plan plan_of_backward(const KernelRow& row, const Problem& p, const Options& resolved, std::vector<Launch> launches);

// The launch over all rows, so many a warp.
Launch rows_launch(std::string_view entry, const Problem& p, const Options& resolved, std::int64_t of_warp = 1);

// Whether dQ is summed in one order.
bool is_deterministic(const Options& resolved);

}  // namespace attn::gpu
