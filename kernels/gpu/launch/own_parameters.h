// What the functions of a user's own kernel of api 2 take: as its header lists it.
#pragma once

#include "kernels/gpu/launch/parameters.h"

namespace attn::gpu {

// The row is such a kernel.
bool has_own_parameters(const KernelRow& row);
Result<std::vector<Parameters>> own_parameters(const Plan& plan, const Buffers& buffers, Queue& queue);
// Its room that is to be 0 before the first launch; nothing to do for any other row.
Result<void> clear_rooms(const Plan& plan, const Buffers& buffers, Queue& queue);

}  // namespace attn::gpu
