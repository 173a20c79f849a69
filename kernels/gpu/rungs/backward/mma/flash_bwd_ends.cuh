// The launches before and after flash_bwd_keys: delta and zeroed sums; dQ of its sums.
#pragma once

#include "kernels/gpu/flash_bwd_parts.cuh"

namespace attn::gpu {

// delta of a query tile: the diagonal of O dO^T, by the very products that make dP of dO and V. O and dO come by copies
// that nobody waits for: this launch does little else than read and clear, and wants many bytes on their way.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_bwd_rows(const Args a, const BackwardArgs g) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64 n0 = int64{blockIdx.x} * ATTN_BR;  // of the first row: all are of one head
  const int64 head = n0 / g.rows, r0 = n0 - head * g.rows, row0 = head * a.Lq + r0;
  const int rows = near(a.Lq - r0);
  const unsigned o = shared_address(shared), d_o = o + kAt.d_o_bytes;
  // @phase delta
  const int64 from = row0 * ATTN_DV + CopyO::first_from();
  CopyO::copy(o + CopyO::first_to(), static_cast<const Element*>(g.o) + from, rows);
  CopyO::copy(d_o + CopyO::first_to(), static_cast<const Element*>(g.d_o) + from, rows);
  commit_copies();
  // @phase dQ
  float4* d_q = reinterpret_cast<float4*>(g.d_q_sum + n0 * kAt.d);
#pragma unroll 4
  for (int d = threadIdx.x; d < ATTN_BR * kAt.d / 4; d += ATTN_THREADS) d_q[d] = make_float4(0, 0, 0, 0);
  // @phase barrier
  wait_for_copies<0>();
  __syncthreads();
  // @phase delta
  const Pieces<kVWidth> x_at(o + Pieces<kVWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane)));
  const Pieces<kVWidth> y_at(d_o + Pieces<kVWidth>::lane(ldmatrix_row_of_k(lane), ldmatrix_chunk_of_k(lane)));
#pragma unroll 1
  for (int row = 16 * warp; row < ATTN_BR; row += 16 * kWarps) {
    float upper[4] = {}, lower[4] = {};  // of the rows 0 to 7 of dO, and 8 to 15
#pragma unroll
    for (int step = 0; step < kVSteps; ++step) {
      unsigned x[4], y[4];
      ldmatrix(x, x_at.at(row, step));
      ldmatrix(y, y_at.at(row, step));
      mma(upper, x, y[0], y[1]);
      mma(lower, x, y[2], y[3]);
    }
    // Row and column are the same in one lane of each four.
    const int diagonal = lane / 4;
    if (lane % 4 == diagonal / 2) {
      keep_row(a, g, n0 + row + diagonal, diagonal % 2 == 0 ? upper[0] : upper[1], kLog2E);
      keep_row(a, g, n0 + row + diagonal + 8, diagonal % 2 == 0 ? lower[2] : lower[3], kLog2E);
    }
  }
}

__device__ inline unsigned one_of(const unsigned (&x)[4], int n) {
  const unsigned low = n & 1 ? x[1] : x[0], high = n & 1 ? x[3] : x[2];
  return n & 2 ? high : low;
}

// A thread has what a lane had of two fragments side by side: pairs of 16 columns in two rows. Each four lanes exchange
// theirs, so that a thread stores eight neighbours at once.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_bwd_dq(const Args a, const BackwardArgs g) {
  // @phase dQ
  const int lane = threadIdx.x % 32, own = lane % 4;
  const int64 n = int64{blockIdx.x} * kWarps + threadIdx.x / 32;  // of the two fragments
  if (n >= a.B * a.Hq * g.rows * kAt.d / 256) return;
  const int pair = static_cast<int>(n % (kFragments / 2));
  const int64 of_warp = n / (kFragments / 2);
  const int warp = static_cast<int>(of_warp % kWarps);
  const int64 tile = of_warp / kWarps, tiles = g.rows / ATTN_BR, head = tile / tiles;
  const int i = pair / kAt.q_steps, step = pair % kAt.q_steps;
  const float4* from = reinterpret_cast<const float4*>(g.d_q_sum) + n * 64 + lane;
  const float4 x = from[0], y = from[32];
  const float f = a.scale;
  const unsigned u[4] = {pack(x.x * f, x.y * f), pack(y.x * f, y.y * f), pack(x.z * f, x.w * f),
                         pack(y.z * f, y.w * f)};
  unsigned z[4];
#pragma unroll
  for (int m = 0; m < 4; ++m) z[m] = __shfl_xor_sync(0xffffffffu, one_of(u, own ^ m), m);
  const unsigned all[4] = {one_of(z, own), one_of(z, own ^ 1), one_of(z, own ^ 2), one_of(z, own ^ 3)};
  // @phase store
  const int d = 16 * (warp % kAt.q.across + kAt.q.across * step) + 8 * (own % 2);
  const int64 r = (tile - head * tiles) * ATTN_BR + warp / kAt.q.across * 16 * kQm + 16 * i + lane / 4 + 8 * (own / 2);
  if (r >= a.Lq || d >= ATTN_D) return;
  Element* to = static_cast<Element*>(g.d_q) + (head * a.Lq + r) * ATTN_D + d;
  if constexpr (ATTN_ALIGNED && ATTN_D % 8 == 0) {
    *reinterpret_cast<uint4*>(to) = make_uint4(all[0], all[1], all[2], all[3]);
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (d + e < ATTN_D) to[e].bits = static_cast<unsigned short>(all[e / 2] >> 16 * (e % 2));
    }
  }
}

}  // namespace attn::gpu
