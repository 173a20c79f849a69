// What this CPU can do at most, measured: fp32 fused multiply-adds on registers and a plain copy, on many cores at
// once.
#pragma once

#include <cstdint>

#include "profiling/spec/measure_spec.h"

namespace attn {

// Takes about `seconds`, and the time to touch the arrays of the copy once (a second at most on common machines).
// The best of many slices: a peak is what the machine can do, not what it does beside other programs. Where the arrays
// of the copy need more than `memory_limit` (0 = none) its rate is 0, not measured.
CpuPeak measure_cpu_peak(std::int32_t threads, double seconds, std::uint64_t memory_limit = 0);

}  // namespace attn
