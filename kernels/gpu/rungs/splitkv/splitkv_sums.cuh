// What warps and parts have of their rows, (m, l, O), on its way out.
#pragma once

#include "kernels/gpu/merge.h"
#include "kernels/gpu/splitkv_product.cuh"

namespace attn::gpu {

struct Exp2 {
  __device__ inline float operator()(float x) const { return exp2_fast(x); }
};
struct Exp {
  __device__ inline float operator()(float x) const { return exp2_fast(x * kLog2E); }
};

// Where O of the warps lies, and their m and l.
__device__ inline float2* sums_of(unsigned char* shared, int warp) {
  return reinterpret_cast<float2*>(shared + kAt.sums_at) + warp * ATTN_BR;
}
__device__ inline int* place_of_o(unsigned char* shared, int warp) {
  return reinterpret_cast<int*>(shared + kAt.places_at) + warp;
}
// The even column of a row, in fp32s.
__device__ inline int o_at(int row, int column) {
  return row * kAt.o_row + (kAt.o_in_ring ? column ^ row % 4 * 8 : column);
}

// A warp's m, l and O to shared memory. `free_place`: in the rings, where nothing comes before others have read it.
__device__ inline void hand_over(unsigned char* shared, int free_place, const WarpRows& rows) {
  // @phase store
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int place = kAt.o_in_ring ? kAt.rings_at + free_place : kAt.o_at + warp * ATTN_BR * kAt.o_row * 4;
  float2* const sums = sums_of(shared, warp);
  auto* const o = reinterpret_cast<float*>(shared + place);
  __syncwarp();  // nobody reads a tile there any more
  if (lane == 0) *place_of_o(shared, warp) = place;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = lane / 4 + 16 * i + 8 * h;
      // @phase l
      const float l = sum_of_row(rows.l[i][h]);
      // @phase store
      if (lane % 4 == 0) sums[row] = make_float2(rows.m[i][h], l);
#pragma unroll
      for (int n = 0; n < 2 * kOt; ++n) {
        *reinterpret_cast<float2*>(o + o_at(row, 8 * n + lane % 4 * 2)) =
            make_float2(rows.o[i][n][2 * h], rows.o[i][n][2 * h + 1]);
      }
    }
  }
}

// Where the answer of a row of a batch and key head goes.
struct OutRow {
  Element* out;
  int64 of_all;  // row of [Hq, Lq]
  float* lse;

  __device__ inline OutRow(const SplitArgs& a, int batch, int kv, int row) {
    const int head = kv * a.group + row % a.group, query = row / a.group;
    out = static_cast<Element*>(a.problem.out) + batch * a.out_b + head * a.out_h + query * a.out_r;
    of_all = int64{head} * a.Lq + query;
    lse = a.problem.lse + batch * a.problem.Hq * a.Lq + of_all;
  }
};

}  // namespace attn::gpu
