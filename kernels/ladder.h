// The table of all kernels, of the CPU and of the GPU, in the order of the ladder. It knows every rung, so no rung and
// nothing that a rung is made of includes it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/kernel.h"

namespace attn {

// The CPU's rows; the GPU's are gpu::gpu_kernel_table() (kernels/gpu/rungs/rows.h).
std::span<const KernelRow> cpu_kernel_table();
// The CPU's rungs, then the GPU's. The rows live as long as the program.
std::vector<const KernelRow*> ladder();
// Of both. The error lists the ids there are.
Result<const KernelRow*> find_kernel(std::string_view id);
// Place in ladder(); kernels that this program does not know come last.
std::size_t ladder_rank(std::string_view id);

}  // namespace attn
