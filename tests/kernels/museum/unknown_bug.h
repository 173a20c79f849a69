// Wrong kernels that the museum does not have. CMake makes each from its .patch.txt.
#pragma once

#include "kernels/model/kernel.h"

// One whose cause no formula knows: in every key tile the weight of the last key counts half.
namespace attn::cpu::wrong_halved_last_weight {

KernelRow cpu_flash_row();

}  // namespace attn::cpu::wrong_halved_last_weight

// P V takes the values of the key tile before.
namespace attn::cpu::wrong_previous_values {

KernelRow cpu_flash_row();

}  // namespace attn::cpu::wrong_previous_values

// O is divided by ℓ as it was before the last key tile.
namespace attn::cpu::wrong_sum_before_last {

KernelRow cpu_flash_row();

}  // namespace attn::cpu::wrong_sum_before_last

// The places that fill a tile's width past its last key have a score of 0, not −∞.
namespace attn::cpu::wrong_padding_counted {

KernelRow cpu_flash_row();

}  // namespace attn::cpu::wrong_padding_counted
