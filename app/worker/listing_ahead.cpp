#include "app/worker/listing_ahead.h"

#include "app/worker/disassemble.h"
#include "kernels/base/text.h"
#include "kernels/ladder.h"

namespace attn {

ListingAhead::ListingAhead(const gpu::ListingSubject& subject, const gpu::OwnKernels& own, const std::stop_token& stop)
    : follow_(stop, Follow{&stopping_}) {
  const auto kernel = find_kernel(subject.kernel, own);  // may be one of `own`, which the thread keeps
  listing_ = std::async(std::launch::async,
                        [kernel, own, subject, token = stopping_.get_token()]() -> Result<gpu::KernelListing> {
                          const InEnglish recorded;
                          if (!kernel) return tl::unexpected(kernel.error());
                          return list_row_here(**kernel, subject, token);
                        });
}

// The future's own end waits for the thread.
ListingAhead::~ListingAhead() {
  stopping_.request_stop();
}

}  // namespace attn
