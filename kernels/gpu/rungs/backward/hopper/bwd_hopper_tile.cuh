// The step of a query tile, by a warpgroup that computes: S, dP, dV and dK of this tile; and before dK, dQ of the tile
// before, of which both have left their dS by then.
#pragma once

#include "kernels/gpu/bwd_hopper_block.cuh"
#include "kernels/gpu/bwd_hopper_scores.cuh"
#include "kernels/gpu/bwd_hopper_sums.cuh"
#include "kernels/gpu/hopper_barrier.cuh"
#include "kernels/gpu/hopper_descriptor.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"

namespace attn::gpu {

// D += X^T Y of the tile's queries: X^T from registers, Y of the ring.
__device__ __forceinline__ void start_gradient(float (&d)[ATTN_D / 2], const unsigned (&x)[kQuerySteps][4],
                                               unsigned y) {
  // @phase caller
#pragma unroll
  for (int c = 0; c < kQuerySteps; ++c) multiply(d, x[c], further(by_columns(y, kBwdQueries), c * 2048), 1);
}

// The n-th tile, and what is left to do of the tile before: its dQ.
template <bool FIRST>
__device__ __forceinline__ void take_tile(float scale, int n, int first, int last, int end, int mine, Descriptor k,
                                          Descriptor v, float (&d_k)[ATTN_D / 2], float (&d_v)[ATTN_D / 2]) {
  const int stage = n & 1, parity = n >> 1 & 1, buffer = n % kBwdBuffers;
  const unsigned q = kRing + stage * kStage, d_o = q + kBwd.query_bytes, rows = kRows + stage * kRowsStage;
  float s[kScores], d_p[kScores];
  // @phase S
  barrier_wait(kQFull + 8 * stage, parity);
  products_begin();
  start_rows(s, k, by_rows(q));
  products_end();
  // @phase dP
  if (FIRST) barrier_wait(kVFull, 0);
  barrier_wait(kOFull + 8 * stage, parity);
  start_rows(d_p, v, by_rows(d_o));
  products_end();
  unsigned p[kQuerySteps][4], d_s[kQuerySteps][4];
  // Four buffers need no word that one is free: who left dS in this one last has since waited for the other's dS of a
  // later tile, and the other leaves it after all that read this buffer.
  if (kBwdBuffers < 4) barrier_wait(kDsEmpty + 8 * buffer, n / kBwdBuffers & 1 ^ 1);
  // @phase S
  wait_for_products<1>(s);
  weigh(scale, first, last, end, mine, rows, s);
  if (kValuesFirst) {
    // @phase dV
    pack(s, p);
    wait_for_products<0>(d_p);
    products_begin();
    start_gradient(d_v, p, d_o);
    products_end();
    slope(rows, s, d_p);
  } else {
    // @phase dP
    wait_for_products<0>(d_p);
    slope(rows, s, d_p);
    pack(s, p);
  }
  // @phase dS
  pack(d_p, d_s);
  keep(d_s, mine, kDs + buffer * kDsBytes);
  if (!kValuesFirst) {
    // @phase dV
    products_begin();
    start_gradient(d_v, p, d_o);
    products_end();
  }
  // @phase dS
  publish_stores();
  __syncwarp();
  barrier_arrive_if(threadIdx.x % 32 == 0, kDsFull + 8 * buffer);
  // @phase dQ
  float d_q[kOwn / 2];
  if (!FIRST) start_sums(n - 1, mine, d_q);
  // @phase dK
  products_begin();
  start_gradient(d_k, d_s, q);
  products_end();
  // @phase dQ
  if (!FIRST) {
    wait_for_products<1>(d_q);
    leave_sums(n - 1, mine, d_q);
  }
  // @phase dK
  wait_for_products<0>(d_k);
  wait_for_products<0>(d_v);
  barrier_arrive_if(threadIdx.x % 32 == 0, kEmpty + 8 * stage);
}

}  // namespace attn::gpu
