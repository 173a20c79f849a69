// The machine code of one kernel, read on a thread of its own while the worker runs the kernel: nvdisasm takes about as
// long as sampling does.
#pragma once

#include <future>
#include <stop_token>

#include "kernels/base/result.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "kernels/ladder.h"

namespace attn {

class ListingAhead {
 public:
  // Begins at once; finds what was compiled in the cache on disk, or compiles it. `own`: the user's kernels.
  ListingAhead(const gpu::ListingSubject& subject, const gpu::OwnKernels& own, const std::stop_token& stop);
  ~ListingAhead();  // what nobody took is stopped
  ListingAhead(const ListingAhead&) = delete;
  ListingAhead& operator=(const ListingAhead&) = delete;

  // Waits for it. Once.
  Result<gpu::KernelListing> get() { return listing_.get(); }

 private:
  struct Follow {
    std::stop_source* source;
    void operator()() const noexcept { source->request_stop(); }
  };
  std::stop_source stopping_;
  std::stop_callback<Follow> follow_;
  std::future<Result<gpu::KernelListing>> listing_;
};

}  // namespace attn
