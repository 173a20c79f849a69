// What the kernels of a backward share: which query rows see a key, and the pass over the rows that comes first.
//
//   S = scale Q K^T,  P = exp(S - LSE),  dP = dO V^T,  delta = rowsum(dO * O),  dS = P (dP - delta)
//   dV = P^T dO,  dK = scale dS^T Q,  dQ = scale dS K
//
// delta is the row's weighted mean of dP.
// A softcap multiplies dS by its slope.  // @score
#pragma once

#include "kernels/gpu/backward_args.h"
#include "kernels/gpu/device.cuh"

namespace attn::gpu {

// Query rows [first, last) that see key c.
__device__ inline int64 first_row(const Args& a, int64 c) {
#if ATTN_MASKED
  const int64 r = c - a.last_shift + 1;
  return r > 0 ? r : 0;
#else
  return 0;
#endif
}
__device__ inline int64 last_row(const Args& a, int64 length, int64 c) {
#if ATTN_MASKED
  if (c >= length) return 0;
  const int64 r = c - a.first_shift + 1;
  return r < a.Lq ? r : a.Lq;
#else
  return a.Lq;
#endif
}
__device__ inline bool is_seen(const Args& a, int64 length, int64 r, int64 c) {
  return c >= first_key(a, r) && c < last_key(a, length, r);
}

// The softcap's slope at a scaled score in base `unit`: 1 - tanh^2(S / c), 1 where there is none.  // @score
__device__ inline float slope_of_score(const Args& a, float score, float unit) {  // @score
#if ATTN_SOFTCAP                                                                  // @score
  const float t = tanhf(__fmul_rn(score, a.softcap_inverse / unit));              // @score
  return 1.0f - t * t;                                                            // @score
#else                                                                             // @score
  return 1.0f;  // @score
#endif                                                                            // @score
}  // @score

// ---- the pass over the rows
//
// delta must be dP to the last bit where a row sees one key alone: then dS is 0, and any rest would be all there is. So
// it is summed as dP is: from the first column to the last.

// What is kept of the n-th row: its LSE in base `unit`, and delta. Rows are counted with those that pad a head's last
// tile. A row without a key has LSE = -inf; +inf in its place makes each of its weights exp(-inf) = 0.
__device__ inline void keep_row(const Args& a, const BackwardArgs& g, int64 n, float delta, float unit) {
  const int64 head = n / g.rows, r = n - head * g.rows;
  float shift = -minus_infinity();
  if (r < a.Lq) {
    const float lse = a.lse[head * a.Lq + r];
    if (lse != minus_infinity()) shift = lse * unit;
    if (g.delta_out != nullptr) g.delta_out[head * a.Lq + r] = delta;
  } else {
    delta = 0;
  }
  g.shift[n] = shift;
  g.delta[n] = delta;
}

// The same by a warp, delta in fp32: its lanes bring the row, each sums all of it.
__device__ inline void prepare_row(const Args& a, const BackwardArgs& g, int64 n, int lane, float unit) {
  const int64 head = n / g.rows, r = n - head * g.rows;
  float delta = 0;
  if (r < a.Lq) {
    const int64 row = head * a.Lq + r;
    const Element* o = static_cast<const Element*>(g.o) + row * ATTN_DV;
    const Element* d_o = static_cast<const Element*>(g.d_o) + row * ATTN_DV;
    for (int d = 0; d < ATTN_DV; d += 32) {
      const bool there = d + lane < ATTN_DV;
      const float x = there ? widen(d_o[d + lane]) : 0.0f, y = there ? widen(o[d + lane]) : 0.0f;
#pragma unroll
      for (int e = 0; e < 32; ++e) delta = fmaf(__shfl_sync(0xffffffffu, x, e), __shfl_sync(0xffffffffu, y, e), delta);
    }
  }
  if (lane == 0) keep_row(a, g, n, delta, unit);
}

}  // namespace attn::gpu
