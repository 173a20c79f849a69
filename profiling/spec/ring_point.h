// Which points are rings of processes (app/ring), and the threads of their ranks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/model/kernel.h"
#include "kernels/model/ring.h"

namespace attn {

// The kernel walks a ring, and somebody chose how many ranks it has. One rank that was chosen is a ring of one: it is
// timed as the others are.
inline bool runs_as_ring(const KernelRow& row, const Options& o) {
  return row.ring != nullptr && chosen(o, kRanks).has_value();
}

// A rank's threads where nobody chose them: its part of the cores in the largest of the rings that are compared. All of
// them have as many, or their times would not compare.
inline std::int32_t threads_of_rank(std::int32_t cores, std::int64_t most_ranks) {
  return std::max<std::int32_t>(1, cores / static_cast<std::int32_t>(std::clamp<std::int64_t>(most_ranks, 1, cores)));
}

}  // namespace attn
