// attn: {"api": 1,
// attn:  "entries": [{"name": "my_attention", "grid": "ceil_div(Lq, threads / 32) * B * Hq", "block": "threads",
// attn:               "shared": "4 * Dv * (threads / 32)"}],
// attn:  "dtypes": ["f32", "f16", "bf16"],
// attn:  "D": {"min": 1, "max": 256}, "Dv": {"min": 1, "max": 256},
// attn:  "masks": ["causal", "window", "key_lengths", "bias", "softcap", "alibi"], "grouped": true,
// attn:  "options": {"threads": {"min": 32, "max": 1024, "step": 32, "default": 128}}}
//
// A kernel of your own: right, plain and slow. One warp has a row of Q and goes over its keys one after the other with
// the online softmax; O of the row lies in shared memory. Change it, and ask:  attnscope verify my_attention.cu
#include "kernels/gpu/device.cuh"

using namespace attn::gpu;

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) my_attention(const Args a) {
  // @phase setup
  extern __shared__ float sums[];
  constexpr int kRows = ATTN_THREADS / 32;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64 blocks = (a.Lq + kRows - 1) / kRows;  // of one head
  const int64 head = blockIdx.x / blocks, r = blockIdx.x % blocks * kRows + warp;
  if (r >= a.Lq) return;
  const Element* q = static_cast<const Element*>(a.q) + (head * a.Lq + r) * ATTN_D;
  const Element* k = static_cast<const Element*>(a.k) + kv_head(a, head) * a.Lk * ATTN_D;
  const Element* v = static_cast<const Element*>(a.v) + kv_head(a, head) * a.Lk * ATTN_DV;
  float* o = sums + warp * ATTN_DV;
  for (int d = lane; d < ATTN_DV; d += 32) o[d] = 0;
  float m = minus_infinity(), l = 0;

  // @phase loop
  const int64 last = last_key(a, key_length(a, head), r);
  for (int64 c = first_key(a, r); c < last; ++c) {
    // @phase S
    float s = 0;
    for (int d = lane; d < ATTN_D; d += 32) s = fmaf(widen(q[d]), widen(k[c * ATTN_D + d]), s);
    for (int half = 16; half > 0; half /= 2) s += __shfl_xor_sync(0xffffffffu, s, half);
    // @phase mask
    s = with_bias(a, head, r, c, s * a.scale, 1.0f);
    if (s == minus_infinity()) continue;
    // @phase m
    const float m_new = fmaxf(m, s);
    // @phase alpha
    const float alpha = expf(m - m_new);
    m = m_new;
    // @phase P
    const float p = expf(s - m);
    // @phase l
    l = alpha * l + p;
    // @phase O
    for (int d = lane; d < ATTN_DV; d += 32) o[d] = fmaf(p, widen(v[c * ATTN_DV + d]), alpha * o[d]);
  }
  // @phase normalise
  const float scale = l == 0 ? 0.0f : 1 / l;  // a row that sees no key gives zeros
  // @phase store
  Element* out = static_cast<Element*>(a.out) + (head * a.Lq + r) * ATTN_DV;
  for (int d = lane; d < ATTN_DV; d += 32) out[d] = narrow(o[d] * scale);
  if (lane == 0) a.lse[head * a.Lq + r] = l == 0 ? minus_infinity() : m + logf(l);
}
