// Writes far outside its memory: CUDA demands a new process after that.
// attn: {"api": 1, "entries": [{"name": "illegal_address", "grid": 1, "block": 32}],
// attn:  "dtypes": ["f32"], "D": {"min": 1, "max": 256}, "masks": []}
#include "kernels/gpu/device.cuh"

using namespace attn::gpu;

extern "C" __global__ void illegal_address(const Args a) {
  a.lse[int64{1} << 42] = 1;
}
