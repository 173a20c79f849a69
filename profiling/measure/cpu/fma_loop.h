// The loop behind cpu_peak.h.
#pragma once

namespace attn {

// GFLOP/s of fp32 fused multiply-adds on the widest vectors of this CPU in the calling thread, for about `seconds`.
double fma_gflops(double seconds);

}  // namespace attn
