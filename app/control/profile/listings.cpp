#include "app/control/profile/listings.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "app/worker/disassemble.h"
#include "kernels/base/text.h"
#include "kernels/gpu/rungs/own_kernel.h"

namespace attn {

void Listings::list(const gpu::ListingSubject& subject) {
  ListingView& view = context_.model.*view_;
  const std::string key = key_of(subject);
  if (key == view.of) return;
  if (context_.tasks.running(task_)) context_.tasks.cancel(task_);
  view = {key, lister_ != nullptr, nullptr, ""};
  if (lister_ == nullptr) {
    view.error = tr("Kernels cannot be compiled here.");
    return;
  }
  const auto& all = context_.state.document.sweep.own;
  const auto at = std::ranges::find(all, subject.kernel, [](const auto& kernel) { return kernel->id; });
  const std::shared_ptr<const KernelRow> own = at == all.end() ? nullptr : *at;
  const auto work = [this, subject, key, own, lister = lister_](TaskHandle& task) -> Result<void> {
    auto made = own != nullptr ? list_row_here(*own, subject, task.stop()) : lister(subject, task.stop());
    ListingView done{key, false, nullptr, made ? "" : made.error().message};
    if (made) done.listing = std::make_shared<const gpu::KernelListing>(*std::move(made));
    task.deliver([this, done = std::move(done)] {
      // A later subject may have taken its place.
      ListingView& now = context_.model.*view_;
      if (now.of == done.of) now = done;
    });
    return ok();
  };
  task_ = context_.tasks.start(phrase("Compiling {} for {}", subject.kernel, subject.arch), work);
}

}  // namespace attn
