// What flash_bwd_hopper's kernels take: five tensor maps, then what every backward takes.
#pragma once

#include "kernels/gpu/launch/parameters.h"

namespace attn::gpu {

// The rung, or an edit of it.
bool has_hopper_backward_parameters(const KernelRow& row);
Result<std::vector<Parameters>> hopper_backward_parameters(const Plan& plan, const Buffers& buffers, Queue& queue);

}  // namespace attn::gpu
