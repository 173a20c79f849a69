// What flash_hopper's kernel takes: four tensor maps and a struct of its own.
#pragma once

#include "kernels/gpu/launch/parameters.h"

namespace attn::gpu {

// The rung, or an edit of it.
bool has_hopper_parameters(const KernelRow& row);
Result<std::vector<Parameters>> hopper_parameters(const Plan& plan, const Buffers& buffers, Queue& queue);

}  // namespace attn::gpu
