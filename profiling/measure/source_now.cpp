#include "profiling/measure/source_now.h"

#include "attnscope_version.h"
#include "kernels/gpu/compile/sources.h"
#include "kernels/gpu/rungs/own_kernel.h"

namespace attn {

std::string source_hash_now(const KernelRow& row, const Problem& p) {
  if (row.processor == Processor::cpu) return ATTNSCOPE_COMMIT;
  return gpu::source_hash_of(row, p, gpu::edited_kernels_folder()).value_or("");
}

}  // namespace attn
