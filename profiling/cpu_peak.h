// What this CPU can do at most, measured: fp32 fused multiply-adds on registers, all cores, in GFLOP/s.
#pragma once

#include <cstdint>

namespace attn {

struct CpuPeak {
  double gflops = 0;        // 2 FLOPs a multiply-add
  double copy_gb_per_s = 0; // read + written, arrays beyond the caches
  std::int32_t threads = 0;
};

// Takes about `seconds`.
CpuPeak measure_cpu_peak(std::int32_t threads, double seconds);

}  // namespace attn
