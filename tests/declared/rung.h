// A rung that no source of the program knows, of the CPU and of a GPU: ids, options, an axis, experiments of its own.
// What the tests of this folder find of it everywhere stands here and in tables.cpp alone.
#pragma once

#include "kernels/model/kernel.h"

namespace attn::test {

// A whole number that tuning tries, and a choice. `depth` is read by the plan: so many KiB of shared memory.
extern const Option kDepth, kFlavour;
// Keys alone, with the queries as they are.
extern const ProblemAxis kKeys;

KernelRow declared_cpu_row();  // "unheard_of", cpu_flash's work
KernelRow declared_gpu_row();  // "unheard_of_gpu", flash_simt's plan

}  // namespace attn::test
