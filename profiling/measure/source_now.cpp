#include "profiling/measure/source_now.h"

#include "attnscope_version.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/own_kernel.h"

namespace attn {

std::string source_hash_now(const KernelRow& row, const Problem& p) {
  if (row.processor == Processor::cpu) return ATTNSCOPE_COMMIT;
  const auto source = gpu::source_of(row, p, gpu::edited_kernels_folder());
  return source ? source->hash : std::string();
}

}  // namespace attn
