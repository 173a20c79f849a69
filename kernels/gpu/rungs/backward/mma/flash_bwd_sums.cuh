// dQ where blocks add into it. The sums lie as the fragments do: a query tile, a warp, a fragment, a lane's four.
#pragma once

#include "kernels/gpu/flash_bwd_parts.cuh"

namespace attn::gpu {

// sum += dS K of a tile, the steps of 16 columns [FIRST, FIRST + COUNT) of the warp's. dS lies in rows of queries, or
// of keys: then ldmatrix turns it.
template <int FIRST, int COUNT>
__device__ inline void add_to_queries(const Warp& w, unsigned d_s, unsigned k, float (&sum)[kQm][2 * COUNT][4]) {
  // @phase dQ
  const unsigned row = kKeysAreRows ? ldmatrix_row_of_k(w.lane) : w.q_row + ldmatrix_row(w.lane);
  const unsigned chunk = kKeysAreRows ? w.q_row / 8 + ldmatrix_chunk_of_k(w.lane) : ldmatrix_chunk(w.lane);
  const Pieces<kSWidth> x_at(d_s + Pieces<kSWidth>::lane(row, chunk));
  const Pieces<kDWidth> y_at(k + Pieces<kDWidth>::lane(ldmatrix_row(w.lane), 2 * w.q_across + ldmatrix_chunk(w.lane)));
#pragma unroll
  for (int step = 0; step < ATTN_BC / 16; ++step) {
    unsigned u[kQm][4];
#pragma unroll
    for (int i = 0; i < kQm; ++i) {
      if constexpr (kKeysAreRows) {
        ldmatrix_transposed(u[i], x_at.at(16 * step, i));
      } else {
        ldmatrix(u[i], x_at.at(16 * i, step));
      }
    }
#pragma unroll
    for (int n = 0; n < COUNT; ++n) {
      unsigned v[4];
      ldmatrix_transposed(v, y_at.at(16 * step, kAt.q.across * (FIRST + n)));
#pragma unroll
      for (int i = 0; i < kQm; ++i) {
        mma(sum[i][2 * n], u[i], v[0], v[1]);
        mma(sum[i][2 * n + 1], u[i], v[2], v[3]);
      }
    }
  }
}

// Four neighbours, one lane's of a fragment.
__device__ inline void reduce(float* to, const float (&x)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
#else
#pragma unroll
  for (int e = 0; e < 4; ++e) atomicAdd(to + e, x[e]);
#endif
}

// The part of one key tile: few steps of 16 columns at a time, for the sums of dK and dV leave few registers. Where
// keys are rows, S is gone by then and they leave more; the addresses of a bias take some.
template <int FIRST>
__device__ inline void reduce_queries(const Warp& w, unsigned d_s, unsigned k, float* to) {
  constexpr int kMost = kKeysAreRows ? 4 : ATTN_BIAS ? 1 : 2;
  constexpr int kCount = kAt.q_steps - FIRST < kMost ? kAt.q_steps - FIRST : kMost;
  float sum[kQm][2 * kCount][4];
  clear(sum);
  add_to_queries<FIRST, kCount>(w, d_s, k, sum);
#pragma unroll
  for (int i = 0; i < kQm; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kCount; ++n)
      reduce(to + (i * 2 * kAt.q_steps + 2 * FIRST + n) * 128 + w.lane * 4, sum[i][n]);
  }
  if constexpr (FIRST + kCount < kAt.q_steps) reduce_queries<FIRST + kCount>(w, d_s, k, to);
}

// Where the warp's sums of a query tile begin.
__device__ inline float* sums_of(const BackwardArgs& g, const Warp& w, int64 head, int64 r0) {
  const int64 tile = head * (g.rows / ATTN_BR) + r0 / ATTN_BR;
  return g.d_q_sum + (tile * kWarps + w.number) * kFragments * 128;
}

}  // namespace attn::gpu
