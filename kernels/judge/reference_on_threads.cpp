// The reference by threads (kernels/judge/verdict.h).
#include <algorithm>
#include <thread>

#include "kernels/base/on_threads.h"
#include "kernels/judge/verdict.h"

namespace attn {
namespace {

std::int32_t threads_of(std::int32_t wanted) {
  const auto cores = static_cast<std::int32_t>(std::thread::hardware_concurrency());
  return std::max(1, wanted > 0 ? wanted : cores);
}

}  // namespace

std::uint64_t reference_bytes(const Problem& p, bool full, std::int32_t threads) {
  return reference_bytes_by(threads_of(threads), p, full);
}

Result<ReferenceRows> reference_rows(const Problem& p, const Inputs& in, const std::vector<RowId>& rows,
                                     std::int32_t threads, const Stop& stop) {
  return reference_rows_by(as_many_threads(threads_of(threads)), p, in, rows, stop);
}

}  // namespace attn
