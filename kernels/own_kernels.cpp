#include "kernels/own_kernels.h"

#include "kernels/ladder.h"

namespace attn {

Result<const KernelRow*> find_kernel(std::string_view id, const gpu::OwnKernels& own) {
  for (const auto& kernel : own)
    if (kernel->id == id) return kernel.get();
  return find_kernel(id);
}

}  // namespace attn
