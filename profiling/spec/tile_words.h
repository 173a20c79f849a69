// A tile in words.
#pragma once

#include <string>

#include "kernels/model/kernel.h"

namespace attn {

// "64 x 32", "64 x 32, 128 threads, 2 stages": what is 0 is left out, and so are threads on a CPU.
std::string tile_words(const KernelRow& row, const Options& o);

}  // namespace attn
