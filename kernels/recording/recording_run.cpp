#include "kernels/recording/recording_run.h"

#include <utility>

namespace attn {

Result<Recording> record_at_once(const KernelRow& row, const Problem& p, const Options& o, const Inputs& in,
                                 Stop stop) {
  auto run = row.begin_recording(row, p, o, in, std::move(stop));
  if (!run) return tl::unexpected(run.error());
  if (const auto whole = (*run)->go_on({}); !whole) return tl::unexpected(whole.error());
  return (*run)->take();
}

}  // namespace attn
