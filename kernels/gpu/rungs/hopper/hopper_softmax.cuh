// One step of the online softmax. A lane has two rows of S (h = 0, 1), four lanes share a row.
//
// m need not be the maximum, only near it: while no score of the tile is more than 2^8 above it, m stays, and O and l
// are not multiplied. P is then below 2^8, which f16 holds as precisely as 1; the division by l takes it out again.
// And if m need not be the maximum, nobody has to wait for the maximum: the m of the tile before is a guess, and the sum
// of the weights says whether it was good enough.
#pragma once

#include "kernels/gpu/hopper_block.cuh"
#include "kernels/gpu/hopper_wgmma.cuh"

namespace attn::gpu {

constexpr float kSlack = 8;

__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float maximum_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
  return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ __forceinline__ float sum_of_row(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

struct Softmax {
  float m[2];      // of scaled scores, in base 2
  float l[2];      // this lane's share until the end
  float alpha[2];  // what O is to be multiplied by after raise()

  __device__ __forceinline__ void begin() {
    m[0] = m[1] = -3.0e38f;  // finite, so that no difference of two of them is NaN; any score is above it
    l[0] = l[1] = 0;
  }
  // New maxima.
  template <int N>
  __device__ __forceinline__ void raise(const float (&s)[N], float scale) {
    // @phase m
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float of[2];  // even and odd eights of keys: two chains wait half as long
#pragma unroll
      for (int t = 0; t < N / 4; ++t) {
        const float pair = fmaxf(s[4 * t + 2 * h], s[4 * t + 2 * h + 1]);
        of[t % 2] = t < 2 ? pair : fmaxf(of[t % 2], pair);
      }
      float x = maximum_of_row(fmaxf(of[0], of[1])) * scale;
      x = kLazy ? (x - m[h] > kSlack ? x : m[h]) : fmaxf(x, m[h]);
      // @phase alpha
      alpha[h] = exp2_of(m[h] - x);
      m[h] = x;
      // @phase l
      l[h] *= alpha[h];
    }
  }
  // P of the steps [FROM, TO) of 16 keys; l takes it before it is rounded.
  template <int FROM, int TO, int N, int STEPS>
  __device__ __forceinline__ void weigh(const float (&s)[N], unsigned (&p)[STEPS][4], float scale) {
    // @phase P
#pragma unroll
    for (int c = FROM; c < TO; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int h = e & 1, i = 8 * c + 2 * e;
        const float x = exp2_of(fmaf(s[i], scale, -m[h])), y = exp2_of(fmaf(s[i + 1], scale, -m[h]));
        // @phase l
        l[h] += x + y;
        // @phase P
        p[c][e] = packed(x, y);
      }
    }
  }
  // P of all keys with the m that there is; their sum, which l takes later. True: some score is so far above m that m has
  // to be raised first. A lane has a quarter of the keys, and while none is 2^8 above m their sum is no larger.
  template <int N, int STEPS>
  __device__ __forceinline__ bool guess(const float (&s)[N], unsigned (&p)[STEPS][4], float scale,
                                        float (&sum)[2]) const {
    // @phase P
    constexpr float kMost = 256 * (N / 2);
    sum[0] = sum[1] = 0;
#pragma unroll
    for (int c = 0; c < STEPS; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int h = e & 1, i = 8 * c + 2 * e;
        const float x = exp2_of(fmaf(s[i], scale, -m[h])), y = exp2_of(fmaf(s[i + 1], scale, -m[h]));
        // @phase l
        sum[h] += x + y;
        // @phase P
        p[c][e] = packed(x, y);
      }
    }
    return !(sum[0] <= kMost && sum[1] <= kMost);  // NaN is not
  }
  // The same of a whole tile, and not yet rounded: a product that is under way still reads the P before.
  template <int N>
  __device__ __forceinline__ void weigh_in_place(float (&s)[N], float scale) {
    // @phase P
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float sum[2] = {0, 0};
#pragma unroll
      for (int t = 0; t < N / 4; ++t) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& x = s[4 * t + 2 * h + e];
          x = exp2_of(fmaf(x, scale, -m[h]));
          sum[t % 2] += x;
        }
      }
      // @phase l
      l[h] += sum[0] + sum[1];
    }
  }
  template <int N, int STEPS>
  static __device__ __forceinline__ void round(const float (&s)[N], unsigned (&p)[STEPS][4]) {
    // @phase P
#pragma unroll
    for (int c = 0; c < STEPS; ++c) {
#pragma unroll
      for (int e = 0; e < 4; ++e) p[c][e] = packed(s[8 * c + 2 * e], s[8 * c + 2 * e + 1]);
    }
  }
  template <int N>
  __device__ __forceinline__ void rescale(float (&o)[N]) const {
    // @phase O
    if (kLazy && !__any_sync(~0u, alpha[0] != 1.0f || alpha[1] != 1.0f)) return;
#pragma unroll
    for (int t = 0; t < N / 4; ++t) {
      o[4 * t] *= alpha[0];
      o[4 * t + 1] *= alpha[0];
      o[4 * t + 2] *= alpha[1];
      o[4 * t + 3] *= alpha[1];
    }
  }
};

}  // namespace attn::gpu
