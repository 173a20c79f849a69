#include "profiling/spec/sweep_point.h"

#include <algorithm>
#include <string>

#include "kernels/cpu/device.h"
#include "kernels/ladder.h"
#include "kernels/model/ring.h"
#include "profiling/spec/ring_point.h"

namespace attn {

Point point_at(const SweepSpec& s, const KernelRow& row, std::int64_t value) {
  Point p{s, std::string(row.id), problem_at(s, value), options_at(s, value)};
  if (runs_as_ring(row, p.options) && p.options.threads == 0) {
    const bool along = kind_of(s.axis).option != nullptr && kind_of(s.axis).option->is(kRanks);
    const std::int64_t most = along && !s.values.empty() ? std::ranges::max(s.values) : ranks_of(p.options);
    p.options.threads = threads_of_rank(cpu_device().cores, most);
  }
  return p;
}

}  // namespace attn
