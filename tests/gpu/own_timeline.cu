// attn: {"api": 1,
// attn:  "entries": [{"name": "staged", "grid": ["ceil_div(Lq, 3)", "B * Hq"], "block": 128,
// attn:               "shared": "4 * 2 * 32 * (D + Dv)"}],
// attn:  "dtypes": ["f32", "f16"], "D": [32, 64], "masks": ["causal"], "grouped": true,
// attn:  "timeline": {"lanes": 4, "states": ["load", "barrier", "P", "store"]}}
//
// One warp brings the next 32 keys and their values to shared memory while three others go over those before, a row
// each. Slow; what it is here for is its timeline: four lanes that wait for each other at every tile.
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/stamps.cuh"

using namespace attn::gpu;

constexpr int kTile = 32, kRow = ATTN_D + ATTN_DV, kSlot = kTile * kRow;

__device__ void fill(const Args& a, int64 head, int64 tile, float* slot) {
  const Element* k = static_cast<const Element*>(a.k) + kv_head(a, head) * a.Lk * ATTN_D;
  const Element* v = static_cast<const Element*>(a.v) + kv_head(a, head) * a.Lk * ATTN_DV;
  for (int i = threadIdx.x % 32; i < kSlot; i += 32) {
    const int64 key = tile * kTile + i / kRow;
    const int d = i % kRow;
    if (key < a.Lk) slot[i] = widen(d < ATTN_D ? k[key * ATTN_D + d] : v[key * ATTN_DV + d - ATTN_D]);
  }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) staged(const Args a) {
  // @phase setup
  extern __shared__ float slots[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  ATTN_LANE(warp, lane == 0);
  const bool copies = warp == 0;
  const int64 head = blockIdx.y, r = int64{blockIdx.x} * 3 + warp - 1;
  const bool mine = !copies && r < a.Lq;
  const int64 last = mine ? last_key(a, key_length(a, head), r) : 0;
  const int tiles = static_cast<int>((a.Lk + kTile - 1) / kTile);
  constexpr int kPart = ATTN_DV / 32;
  float o[kPart] = {}, m = minus_infinity(), l = 0;
  if (copies) {
    ATTN_STATE(load, 0, 0);
    fill(a, head, 0, slots);
  }
  ATTN_STATE(barrier, 0, 0);
  __syncthreads();
  // @phase loop
  for (int j = 0; j < tiles; ++j) {
    const float* slot = slots + j % 2 * kSlot;
    if (copies && j + 1 < tiles) {
      ATTN_STATE(load, j + 1, (j + 1) % 2);
      fill(a, head, j + 1, slots + (j + 1) % 2 * kSlot);
    }
    if (mine) {
      ATTN_STATE(P, j, j % 2);
      for (int64 c = int64{j} * kTile; c < min(last, int64{j + 1} * kTile); ++c) {
        const float* row = slot + (c % kTile) * kRow;
        const Element* q = static_cast<const Element*>(a.q) + (head * a.Lq + r) * ATTN_D;
        float s = 0;
        for (int d = lane; d < ATTN_D; d += 32) s = fmaf(widen(q[d]), row[d], s);
        for (int half = 16; half > 0; half /= 2) s += __shfl_xor_sync(0xffffffffu, s, half);
        const float before = m;
        m = fmaxf(m, s * a.scale);
        const float alpha = expf(before - m), p = expf(s * a.scale - m);
        l = alpha * l + p;
        for (int i = 0; i < kPart; ++i) o[i] = fmaf(p, row[ATTN_D + lane + 32 * i], alpha * o[i]);
      }
    }
    ATTN_STATE(barrier, j, -1);
    __syncthreads();
  }
  // @phase store
  if (mine) {
    ATTN_STATE(store, -1, -1);
    Element* out = static_cast<Element*>(a.out) + (head * a.Lq + r) * ATTN_DV;
    for (int i = 0; i < kPart; ++i) out[lane + 32 * i] = narrow(l == 0 ? 0.0f : o[i] / l);
    if (lane == 0) a.lse[head * a.Lq + r] = l == 0 ? minus_infinity() : m + logf(l);
  }
  ATTN_LANE_DONE(warp);
}
