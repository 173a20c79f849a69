// All kernels, of the CPU and of the GPU, in the order of the ladder.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "kernels/model/kernel.h"

namespace attn {

// The CPU's rungs, then the GPU's. The rows live as long as the program.
std::vector<const KernelRow*> ladder();
// Place in ladder(); kernels that this program does not know come last.
std::size_t ladder_rank(std::string_view id);

}  // namespace attn
