// Never ends: its worker is stopped at the time limit, and the next kernel gets a new one.
// attn: {"api": 1, "entries": [{"name": "hang", "grid": 1, "block": 32}],
// attn:  "dtypes": ["f32"], "D": {"min": 1, "max": 256}, "masks": []}
#include "kernels/gpu/device.cuh"

using namespace attn::gpu;

extern "C" __global__ void hang(const Args a) {
  volatile int turns = 1;
  while (turns > 0) turns = 1;
  a.lse[0] = static_cast<float>(turns);
}
