// attn: {"api": 2,
// attn:  "entries": [{"name": "by_map", "grid": ["ceil_div(Lq, threads / 32)", "Hq", "B"], "block": "threads",
// attn:               "shared": "2 * Bc * (D + Dv) + 128",
// attn:               "parameters": ["q", "q.batch", "q.head", "q.row", {"map": "k", "box": ["D", "Bc"]},
// attn:                              {"map": "v", "box": ["Dv", "Bc"], "promote": 128},
// attn:                              "o", "o.batch", "o.head", "o.row", "lse", "Hq", "Hkv", "Lq", "Lk", "scale",
// attn:                              "last_shift"]}],
// attn:  "dtypes": ["f16", "bf16"], "D": {"min": 8, "max": 128, "step": 8}, "Dv": {"min": 8, "max": 128, "step": 8},
// attn:  "masks": ["causal"], "grouped": true, "layouts": ["bhld", "blhd"],
// attn:  "options": {"Bc": {"min": 16, "max": 128, "step": 16, "default": 64},
// attn:              "threads": {"min": 32, "max": 512, "step": 32, "default": 128}}}
//
// Key tiles come by the hardware's copies (TMA): one thread asks for K and V of a tile by their maps, all wait.
#include "kernels/gpu/device.cuh"

using namespace attn::gpu;

constexpr int kRows = ATTN_THREADS / 32, kOfLane = (ATTN_DV + 31) / 32;

struct alignas(64) Map {  // CUDA's CUtensorMap
  unsigned long long opaque[16];
};

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ inline void bring(void* to, const Map& map, unsigned barrier, int key, int head, int batch) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], "
      "[%2];" ::"r"(shared_address(to)),
      "l"(&map), "r"(barrier), "r"(0), "r"(key), "r"(head), "r"(batch)
      : "memory");
}
__device__ inline void wait(unsigned barrier, unsigned turn) {
  unsigned done = 0;
  while (done == 0)
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(barrier), "r"(turn)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    by_map(const Element* q, int64 q_batch, int64 q_head, int64 q_row, const __grid_constant__ Map k_map,
           const __grid_constant__ Map v_map, Element* out, int64 o_batch, int64 o_head, int64 o_row, float* lse,
           int Hq, int Hkv, int Lq, int Lk, float scale, int64 last_shift) {
  // @phase setup
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ __align__(8) unsigned long long barrier_word;
  Element* const k = reinterpret_cast<Element*>(memory);
  // A tile of V begins on 128 bytes, too.
  Element* const v = reinterpret_cast<Element*>(memory + (2 * ATTN_BC * ATTN_D + 127) / 128 * 128);
  const unsigned barrier = shared_address(&barrier_word);
  const int lane = threadIdx.x % 32, r = blockIdx.x * kRows + threadIdx.x / 32, h = blockIdx.y, b = blockIdx.z;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  q += b * q_batch + h * q_head + min(r, Lq - 1) * q_row;
  const int64 last = r < Lq ? min(int64{Lk}, r + last_shift) : 0;
  float o[kOfLane] = {}, m = minus_infinity(), l = 0;
  unsigned turn = 0;
  // @phase loop
  for (int begin = 0; begin < Lk; begin += ATTN_BC) {
    // @phase K
    if (threadIdx.x == 0) {
      constexpr unsigned kBytes = 2 * ATTN_BC * (ATTN_D + ATTN_DV);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(kBytes) : "memory");
      bring(k, k_map, barrier, begin, h / (Hq / Hkv), b);
      bring(v, v_map, barrier, begin, h / (Hq / Hkv), b);
    }
    wait(barrier, turn);
    turn ^= 1;
    for (int64 c = begin; c < min(last, int64{begin} + ATTN_BC); ++c) {
      // @phase S
      const Element *key = k + (c - begin) * ATTN_D, *value = v + (c - begin) * ATTN_DV;
      float s = 0;
      for (int d = lane; d < ATTN_D; d += 32) s = fmaf(widen(q[d]), widen(key[d]), s);
      for (int half = 16; half > 0; half /= 2) s += __shfl_xor_sync(0xffffffffu, s, half);
      s *= scale;
      // @phase m
      const float m_new = fmaxf(m, s), alpha = expf(m - m_new), p = expf(s - m_new);
      m = m_new;
      // @phase l
      l = alpha * l + p;
      // @phase O
      for (int n = 0; n < kOfLane; ++n)
        if (lane + 32 * n < ATTN_DV) o[n] = fmaf(p, widen(value[lane + 32 * n]), alpha * o[n]);
    }
    __syncthreads();  // the next tile comes over this one
  }
  // @phase store
  if (r >= Lq) return;
  out += b * o_batch + h * o_head + r * o_row;
  for (int n = 0; n < kOfLane; ++n)
    if (lane + 32 * n < ATTN_DV) out[lane + 32 * n] = narrow(l == 0 ? 0.0f : o[n] / l);
  if (lane == 0) lse[(int64{b} * Hq + h) * Lq + r] = l == 0 ? minus_infinity() : m + logf(l);
}
