// attn: {"api": 2, "pass": "backward",
// attn:  "entries": [
// attn:   {"name": "queries", "grid": ["ceil_div(Lq, threads / 32)", "B * Hq"], "block": "threads",
// attn:    "parameters": ["q", "k", "v", "o", "do", "lse", "dq", "delta", "Hq", "Hkv", "Lq", "Lk", "scale",
// attn:                   "last_shift"]},
// attn:   {"name": "keys", "grid": ["ceil_div(Lk, threads / 32)", "B * Hkv"], "block": "threads",
// attn:    "parameters": ["q", "k", "v", "delta", "do", "lse", "dk", "dv", "Hq", "Hkv", "Lq", "Lk", "scale",
// attn:                   "last_shift"]}],
// attn:  "dtypes": ["f32", "f16", "bf16"], "D": {"min": 1, "max": 256}, "masks": ["causal"], "grouped": true,
// attn:  "options": {"threads": {"min": 32, "max": 1024, "step": 32, "default": 128}}}
//
// Several outputs: a warp has a query row for dQ and delta, then a key row for dK and dV, over all heads that share it.
#include "kernels/gpu/device.cuh"

using namespace attn::gpu;

constexpr int kRows = ATTN_THREADS / 32, kOfLane = (ATTN_D + 31) / 32;

__device__ inline float sum(float x) {
  for (int half = 16; half > 0; half /= 2) x += __shfl_xor_sync(0xffffffffu, x, half);
  return x;
}
__device__ inline float dot(const Element* a, const Element* b, int lane) {
  float x = 0;
  for (int d = lane; d < ATTN_D; d += 32) x = fmaf(widen(a[d]), widen(b[d]), x);
  return sum(x);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    queries(const Element* q, const Element* k, const Element* v, const Element* o, const Element* d_o,
            const float* lse, Element* dq, float* deltas, int Hq, int Hkv, int Lq, int Lk, float scale,
            int64 last_shift) {
  // @phase setup
  const int lane = threadIdx.x % 32, r = blockIdx.x * kRows + threadIdx.x / 32;
  if (r >= Lq) return;
  const int64 head = blockIdx.y, row = head * Lq + r, group = head / Hq * Hkv + head % Hq / (Hq / Hkv);
  const float delta = dot(o + row * ATTN_D, d_o + row * ATTN_D, lane);
  if (lane == 0) deltas[row] = delta;
  float sums[kOfLane] = {};
  // @phase loop
  for (int64 c = 0; c < min(int64{Lk}, r + last_shift); ++c) {
    const int64 key = group * Lk + c;
    const float p = expf(scale * dot(q + row * ATTN_D, k + key * ATTN_D, lane) - lse[row]);
    const float ds = p * (dot(d_o + row * ATTN_D, v + key * ATTN_D, lane) - delta);
    for (int n = 0; n < kOfLane; ++n)
      if (lane + 32 * n < ATTN_D) sums[n] = fmaf(ds, widen(k[key * ATTN_D + lane + 32 * n]), sums[n]);
  }
  // @phase store
  for (int n = 0; n < kOfLane; ++n)
    if (lane + 32 * n < ATTN_D) dq[row * ATTN_D + lane + 32 * n] = narrow(scale * sums[n]);
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    keys(const Element* q, const Element* k, const Element* v, const float* deltas, const Element* d_o,
         const float* lse, Element* dk, Element* dv, int Hq, int Hkv, int Lq, int Lk, float scale, int64 last_shift) {
  // @phase setup
  const int lane = threadIdx.x % 32, c = blockIdx.x * kRows + threadIdx.x / 32;
  if (c >= Lk) return;
  const int64 group = blockIdx.y, key = group * Lk + c, shared = Hq / Hkv;
  float sums_k[kOfLane] = {}, sums_v[kOfLane] = {};
  // @phase loop
  for (int64 h = 0; h < shared; ++h) {
    const int64 head = group / Hkv * Hq + group % Hkv * shared + h;
    for (int64 r = max(int64{0}, c - last_shift + 1); r < Lq; ++r) {
      const int64 row = head * Lq + r;
      const float p = expf(scale * dot(q + row * ATTN_D, k + key * ATTN_D, lane) - lse[row]);
      const float ds = p * (dot(d_o + row * ATTN_D, v + key * ATTN_D, lane) - deltas[row]);
      for (int n = 0; n < kOfLane; ++n) {
        if (lane + 32 * n >= ATTN_D) continue;
        sums_v[n] = fmaf(p, widen(d_o[row * ATTN_D + lane + 32 * n]), sums_v[n]);
        sums_k[n] = fmaf(ds, widen(q[row * ATTN_D + lane + 32 * n]), sums_k[n]);
      }
    }
  }
  // @phase store
  for (int n = 0; n < kOfLane; ++n) {
    if (lane + 32 * n >= ATTN_D) continue;
    dk[key * ATTN_D + lane + 32 * n] = narrow(scale * sums_k[n]);
    dv[key * ATTN_D + lane + 32 * n] = narrow(sums_v[n]);
  }
}
