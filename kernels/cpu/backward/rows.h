// The rows of the CPU's kernels of a backward, one a file.
#pragma once

#include "kernels/model/kernel.h"

namespace attn::cpu {

inline constexpr Pass kBackwardAlone[] = {Pass::backward};

KernelRow cpu_naive_bwd_row();
KernelRow cpu_flash_bwd_row();

}  // namespace attn::cpu
