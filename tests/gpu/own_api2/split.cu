// attn: {"api": 2,
// attn:  "scratch": {"partial": {"bytes": "4 * ceil_div(Lk, Bc) * B * Hq * Lq * (Dv + 2)"}},
// attn:  "entries": [
// attn:   {"name": "parts", "grid": ["ceil_div(Lq, threads / 32)", "B * Hq", "ceil_div(Lk, Bc)"], "block": "threads",
// attn:    "parameters": ["q", "q.batch", "q.head", "q.row", "k", "k.batch", "k.head", "k.row",
// attn:                   "v", "v.batch", "v.head", "v.row", "bias", "bias.batch", "bias.head", "bias.row",
// attn:                   "bias.column", "key_lengths", "partial", "Hq", "Hkv", "Lq", "Lk", "scale",
// attn:                   "first_shift", "last_shift"]},
// attn:   {"name": "whole", "grid": ["ceil_div(Lq, threads / 32)", "B * Hq"], "block": "threads",
// attn:    "parameters": ["partial", "o", "o.batch", "o.head", "o.row", "lse", "lse.batch", "lse.head", "Hq", "Lq",
// attn:                   {"value": "ceil_div(Lk, Bc)", "type": "int"}]}],
// attn:  "dtypes": ["f32", "f16", "bf16"], "D": {"min": 1, "max": 256}, "Dv": {"min": 1, "max": 256},
// attn:  "masks": ["causal", "window", "key_lengths", "bias"], "grouped": true, "layouts": ["bhld", "blhd"],
// attn:  "options": {"Bc": {"min": 64, "max": 4096, "step": 64, "default": 256},
// attn:              "threads": {"min": 32, "max": 1024, "step": 32, "default": 128}}}
//
// Keys are split: a warp goes over one part of a row's keys and leaves m, l and O in room of the kernel's own; a second
// launch puts the parts together. Tensors come with their strides, so that their axes may stand in either order.
#include "kernels/gpu/device.cuh"

using namespace attn::gpu;

constexpr int kRows = ATTN_THREADS / 32, kOfLane = (ATTN_DV + 31) / 32, kKept = ATTN_DV + 2;

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    parts(const Element* q, int64 q_batch, int64 q_head, int64 q_row, const Element* k, int64 k_batch, int64 k_head,
          int64 k_row, const Element* v, int64 v_batch, int64 v_head, int64 v_row, const float* bias, int64 bias_batch,
          int64 bias_head, int64 bias_row, int64 bias_column, const int64* key_lengths, float* partial, int Hq, int Hkv,
          int Lq, int Lk, float scale, int64 first_shift, int64 last_shift) {
  // @phase setup
  const int lane = threadIdx.x % 32, r = blockIdx.x * kRows + threadIdx.x / 32, part = blockIdx.z;
  if (r >= Lq) return;
  const int b = blockIdx.y / Hq, h = blockIdx.y % Hq, group = h / (Hq / Hkv);
  q += b * q_batch + h * q_head + r * q_row;
  k += b * k_batch + group * k_head;
  v += b * v_batch + group * v_head;
  if (bias != nullptr) bias += b * bias_batch + h * bias_head + r * bias_row;
  const int64 keys = key_lengths != nullptr ? key_lengths[b] : Lk, begin = int64{ATTN_BC} * part;
  const int64 first = max(max(int64{0}, r + first_shift), begin);
  const int64 last = min(min(keys, r + last_shift), begin + ATTN_BC);
  float o[kOfLane] = {}, m = minus_infinity(), l = 0;
  // @phase loop
  for (int64 c = first; c < last; ++c) {
    // @phase S
    float s = 0;
    for (int d = lane; d < ATTN_D; d += 32) s = fmaf(widen(q[d]), widen(k[c * k_row + d]), s);
    for (int half = 16; half > 0; half /= 2) s += __shfl_xor_sync(0xffffffffu, s, half);
    s *= scale;
    if (bias != nullptr) s += bias[c * bias_column];
    if (s == minus_infinity()) continue;
    // @phase m
    const float m_new = fmaxf(m, s), alpha = expf(m - m_new), p = expf(s - m_new);
    m = m_new;
    // @phase l
    l = alpha * l + p;
    // @phase O
    for (int n = 0; n < kOfLane; ++n)
      if (lane + 32 * n < ATTN_DV) o[n] = fmaf(p, widen(v[c * v_row + lane + 32 * n]), alpha * o[n]);
  }
  // @phase store
  float* to = partial + ((int64{part} * gridDim.y + blockIdx.y) * Lq + r) * kKept;
  for (int n = 0; n < kOfLane; ++n)
    if (lane + 32 * n < ATTN_DV) to[lane + 32 * n] = o[n];
  if (lane == 0) to[ATTN_DV] = m, to[ATTN_DV + 1] = l;
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS)
    whole(const float* partial, Element* out, int64 o_batch, int64 o_head, int64 o_row, float* lse, int64 lse_batch,
          int64 lse_head, int Hq, int Lq, int count) {
  // @phase normalise
  const int lane = threadIdx.x % 32, r = blockIdx.x * kRows + threadIdx.x / 32;
  if (r >= Lq) return;
  const int64 step = int64{gridDim.y} * Lq * kKept;
  const float* from = partial + (int64{blockIdx.y} * Lq + r) * kKept;
  float m = minus_infinity(), l = 0, o[kOfLane] = {};
  for (int n = 0; n < count; ++n) m = fmaxf(m, from[n * step + ATTN_DV]);
  for (int n = 0; n < count; ++n) {
    const float part_m = from[n * step + ATTN_DV];
    if (part_m == minus_infinity()) continue;
    const float factor = expf(part_m - m);
    l += factor * from[n * step + ATTN_DV + 1];
    for (int i = 0; i < kOfLane; ++i)
      if (lane + 32 * i < ATTN_DV) o[i] = fmaf(factor, from[n * step + lane + 32 * i], o[i]);
  }
  // @phase store
  const int b = blockIdx.y / Hq, h = blockIdx.y % Hq;
  out += b * o_batch + h * o_head + r * o_row;
  for (int i = 0; i < kOfLane; ++i)
    if (lane + 32 * i < ATTN_DV) out[lane + 32 * i] = narrow(l == 0 ? 0.0f : o[i] / l);
  if (lane == 0) lse[b * lse_batch + h * lse_head + r] = l == 0 ? minus_infinity() : m + logf(l);
}
