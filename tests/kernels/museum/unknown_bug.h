// A wrong kernel that the museum does not have and whose cause no formula knows: in every key tile the weight of the
// last key counts half. CMake makes it from halved_last_weight.patch.txt.
#pragma once

#include "kernels/model/kernel.h"

namespace attn::cpu::wrong_halved_last_weight {

KernelRow cpu_flash_row();

}  // namespace attn::cpu::wrong_halved_last_weight
