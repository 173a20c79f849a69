// Kernels of the user's own files beside those of the ladder, for whoever was given some.
#pragma once

#include <string_view>

#include "kernels/base/result.h"
#include "kernels/gpu/rungs/own.h"
#include "kernels/model/kernel.h"

namespace attn {

// Of `own`, else of the ladder. The row lives as long as `own` or the program.
Result<const KernelRow*> find_kernel(std::string_view id, const gpu::OwnKernels& own);

}  // namespace attn
