// What is known of a row of the CPU: threads, tiles beside the caches, the rate that its least bytes make. No counter
// is read there.
#pragma once

#include <span>
#include <vector>

#include "kernels/model/kernel.h"
#include "profiling/figures/measurement.h"
#include "viz/profile/figures/bytes_line.h"

namespace attn {

// `caches`: of the machine that the row was taken on, the smallest first; empty: they are not known.
std::vector<BytesLine> cpu_lines(const Measurement& m, std::span<const CacheLevel> caches);

}  // namespace attn
