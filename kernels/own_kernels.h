// Kernels of the user's own files beside those of the ladder, for whoever was given some.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/kernel.h"

namespace attn {

namespace gpu {
// Each is the row of an OwnKernel (kernels/gpu/rungs/own.h), which own_kernel() gives.
using OwnKernels = std::vector<std::shared_ptr<const KernelRow>>;
}  // namespace gpu

// Of `own`, else of the ladder. The row lives as long as `own` or the program.
Result<const KernelRow*> find_kernel(std::string_view id, const gpu::OwnKernels& own);

}  // namespace attn
