// The CPU kernels' rows, one a file.
#pragma once

#include "kernels/model/kernel.h"

namespace attn::cpu {

inline constexpr DType kAllDTypes[] = {DType::f32, DType::f16, DType::bf16};

KernelRow cpu_sequential_row();
KernelRow cpu_multicore_row();
KernelRow cpu_tiled_row();
KernelRow cpu_flash1_row();
KernelRow cpu_flash_row();

}  // namespace attn::cpu
