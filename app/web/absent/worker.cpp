// The worker compiles and runs kernels in a process of its own: a page has none.
#include "app/worker/bench.h"
#include "app/worker/disassemble.h"

#include "app/web/absent/words.h"

namespace attn {

Result<GpuRecorded> GpuBench::record(GpuRunRequest, const std::function<void(const std::string&)>&,
                                     const std::stop_token&) {
  return fail(ErrorKind::cannot_run, in_desktop(tr("A web page cannot record on a GPU.")));
}

Result<gpu::KernelListing> list_row_here(const KernelRow&, const gpu::ListingSubject&, const std::stop_token&) {
  return fail(ErrorKind::cannot_run, in_desktop(tr("Listing machine code needs CUDA's tools.")));
}

}  // namespace attn
