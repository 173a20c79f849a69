// Profile's source: compiled and taken apart on a task, one kernel at a time.
#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include "app/control/tasks/job_context.h"
#include "kernels/base/result.h"
#include "kernels/gpu/compile/listing/listing.h"
#include "viz/state/model.h"

namespace attn {

using KernelLister = std::function<Result<gpu::KernelListing>(const gpu::ListingSubject&, const std::stop_token&)>;

class Listings {
 public:
  // `lister`: none where nothing is compiled. `view`: where the model has it.
  Listings(const JobContext& context, KernelLister lister, ListingView Model::*view = &Model::listing)
      : context_(context), lister_(std::move(lister)), view_(view) {}

  // What runs for another subject is cancelled.
  void list(const gpu::ListingSubject& subject);

 private:
  JobContext context_;
  KernelLister lister_;
  ListingView Model::*view_;
  TaskId task_ = 0;
};

}  // namespace attn
