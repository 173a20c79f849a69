// Scores of a warpgroup's 64 keys and a tile of queries: keys are rows. From S^T to P^T and from dP^T to dS^T in the
// registers where the products leave them, and from there to where the next products want them.
//
// s[4 t + 2 h + e] of a lane is key 16 warp + lane / 4 + 8 h and query 8 t + 2 (lane % 4) + e (hopper_wgmma.cuh). So a
// lane needs LSE and delta of two neighbouring queries at a time.
#pragma once

#include "kernels/gpu/bwd_hopper_block.cuh"
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/hopper_descriptor.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"

namespace attn::gpu {

// X Y^T of this warpgroup's 64 keys and the stage's queries.
__device__ __forceinline__ void start_rows(float (&s)[kScores], Descriptor x, Descriptor y) {
#pragma unroll
  for (int i = 0; i < kSteps; ++i)
    multiply(s, further(x, i / 4 * kKeyPanel + i % 4 * 32), further(y, i / 4 * kQueryPanel + i % 4 * 32), i != 0);
}

__device__ __forceinline__ float2 shared_pair(unsigned at) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(at));
  return x;
}

// P^T of S^T. Row r of the tile sees its keys from r + first to r + last, the last not among them, and none from `end`.
__device__ __forceinline__ void weigh(float scale, int first, int last, int end, int mine, unsigned rows,
                                      float (&s)[kScores]) {
  // @phase mask
  const bool whole = end >= kBwdKeys && first + kBwdQueries - 1 <= 0 && last >= kBwdKeys;
  const int key = 64 * mine + static_cast<int>(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
  const int query = static_cast<int>(threadIdx.x % 4) * 2;
  // @phase P
#pragma unroll
  for (int t = 0; t < kBwdQueries / 8; ++t) {
    const float2 shift = shared_pair(rows + query * 4 + 32 * t);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& x = s[4 * t + i];
      x = exp2_fast(fmaf(x, scale, i % 2 == 0 ? -shift.x : -shift.y));
    }
  }
  if (whole) return;
    // @phase mask
#pragma unroll
  for (int t = 0; t < kBwdQueries / 8; ++t) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int c = key + i / 2 * 8, r = query + 8 * t + i % 2;
      if (c - r < first || c - r >= last || c >= end) s[4 * t + i] = 0;
    }
  }
}

// dS^T of P^T, in the place of dP^T.
__device__ __forceinline__ void slope(unsigned rows, const float (&s)[kScores], float (&d_p)[kScores]) {
  // @phase dS
#pragma unroll
  for (int t = 0; t < kBwdQueries / 8; ++t) {
    const float2 delta = shared_pair(rows + kBwdQueries * 4 + threadIdx.x % 4 * 8 + 32 * t);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float& x = d_p[4 * t + i];
      x = s[4 * t + i] * (x - (i % 2 == 0 ? delta.x : delta.y));
    }
  }
}

// Left factors of 16 queries each.
__device__ __forceinline__ void pack(const float (&s)[kScores], unsigned (&p)[kQuerySteps][4]) {
#pragma unroll
  for (int c = 0; c < kQuerySteps; ++c) {
#pragma unroll
    for (int i = 0; i < 4; ++i) p[c][i] = packed(s[8 * c + 2 * i], s[8 * c + 2 * i + 1]);
  }
}

// dS^T to shared memory: rows are keys.
__device__ __forceinline__ void keep(const unsigned (&p)[kQuerySteps][4], int mine, unsigned to) {
  const int lane = threadIdx.x % 32, part = lane / 8;
  const int row = 64 * mine + static_cast<int>(threadIdx.x % 128 / 32) * 16 + part % 2 * 8 + lane % 8;
#pragma unroll
  for (int c = 0; c < kQuerySteps; ++c)
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     to + c / 4 * kKeyPanel + swizzled_chunk(row, 2 * c % 8 + part / 2)),
                 "r"(p[c][0]), "r"(p[c][1]), "r"(p[c][2]), "r"(p[c][3])
                 : "memory");
}

}  // namespace attn::gpu
