// What flash_splitkv's kernels take: a struct of their own, the same for both.
#pragma once

#include "kernels/gpu/launch/parameters.h"

namespace attn::gpu {

// The rung, or an edit of it.
bool has_split_parameters(const KernelRow& row);
Result<std::vector<Parameters>> split_parameters(const Plan& plan, const Buffers& buffers, Queue& queue);

}  // namespace attn::gpu
