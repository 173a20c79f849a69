// attn: {"api": 2,
// attn:  "entries": [{"name": "together", "grid": ["4 * ceil_div(Lq, threads / 32)", "B * Hq"], "block": "threads",
// attn:               "cluster": 4, "shared": "4 * (threads / 32) * (Dv + 2)",
// attn:               "parameters": ["q", "k", "v", "o", "lse", "Hq", "Hkv", "Lq", "Lk", "scale", "last_shift"]}],
// attn:  "dtypes": ["f32", "f16", "bf16"], "D": {"min": 1, "max": 256}, "Dv": {"min": 1, "max": 256},
// attn:  "masks": ["causal"], "grouped": true,
// attn:  "options": {"threads": {"min": 32, "max": 512, "step": 32, "default": 128}}}
//
// The four blocks of a cluster share the keys of the same rows; the first reads what the others found in their shared
// memory.
#include "kernels/gpu/device.cuh"

using namespace attn::gpu;

constexpr int kBlocks = 4, kRows = ATTN_THREADS / 32, kOfLane = (ATTN_DV + 31) / 32, kKept = ATTN_DV + 2;

__device__ inline void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// A number in the shared memory of the cluster's block `rank`, where this block's own is `at`.
__device__ inline float read_of(const float* at, int rank) {
  const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(at));
  unsigned there;
  float x;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(there) : "memory");
  return x;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    together(const Element* q, const Element* k, const Element* v, Element* out, float* lse, int Hq, int Hkv, int Lq,
             int Lk, float scale, int64 last_shift) {
  // @phase setup
  extern __shared__ float kept[];
  const int rank = blockIdx.x % kBlocks, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int r = blockIdx.x / kBlocks * kRows + warp, head = blockIdx.y;
  const int64 group = int64{head / Hq} * Hkv + head % Hq / (Hq / Hkv);
  float* mine = kept + warp * kKept;
  float o[kOfLane] = {}, m = minus_infinity(), l = 0;
  if (r < Lq) {
    const Element* row = q + (int64{head} * Lq + r) * ATTN_D;
    const int64 last = min(int64{Lk}, r + last_shift);
    // @phase loop
    for (int64 c = rank; c < last; c += kBlocks) {
      // @phase S
      float s = 0;
      for (int d = lane; d < ATTN_D; d += 32) s = fmaf(widen(row[d]), widen(k[(group * Lk + c) * ATTN_D + d]), s);
      for (int half = 16; half > 0; half /= 2) s += __shfl_xor_sync(0xffffffffu, s, half);
      s *= scale;
      // @phase m
      const float m_new = fmaxf(m, s), alpha = expf(m - m_new), p = expf(s - m_new);
      m = m_new;
      // @phase l
      l = alpha * l + p;
      // @phase O
      for (int n = 0; n < kOfLane; ++n)
        if (lane + 32 * n < ATTN_DV) o[n] = fmaf(p, widen(v[(group * Lk + c) * ATTN_DV + lane + 32 * n]), alpha * o[n]);
    }
  }
  // @phase normalise
  for (int n = 0; n < kOfLane; ++n)
    if (lane + 32 * n < ATTN_DV) mine[lane + 32 * n] = o[n];
  if (lane == 0) mine[ATTN_DV] = m, mine[ATTN_DV + 1] = l;
  meet();
  if (rank == 0 && r < Lq) {
    float all_m = minus_infinity(), all_l = 0, all_o[kOfLane] = {};
    for (int n = 0; n < kBlocks; ++n) all_m = fmaxf(all_m, read_of(mine + ATTN_DV, n));
    for (int n = 0; n < kBlocks; ++n) {
      const float part_m = read_of(mine + ATTN_DV, n);
      if (part_m == minus_infinity()) continue;
      const float factor = expf(part_m - all_m);
      all_l += factor * read_of(mine + ATTN_DV + 1, n);
      for (int i = 0; i < kOfLane; ++i)
        if (lane + 32 * i < ATTN_DV) all_o[i] = fmaf(factor, read_of(mine + lane + 32 * i, n), all_o[i]);
    }
    // @phase store
    out += (int64{head} * Lq + r) * ATTN_DV;
    for (int i = 0; i < kOfLane; ++i)
      if (lane + 32 * i < ATTN_DV) out[lane + 32 * i] = narrow(all_l == 0 ? 0.0f : all_o[i] / all_l);
    if (lane == 0) lse[int64{head} * Lq + r] = all_l == 0 ? minus_infinity() : all_m + logf(all_l);
  }
  meet();  // no block's shared memory goes while another reads it
}
