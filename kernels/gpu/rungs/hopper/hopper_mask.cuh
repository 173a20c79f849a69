// What becomes of a score before the softmax sees it: the mask at the edges of what a row sees, and a bias and what else
// changes scores everywhere where there is one.
#pragma once

#include "kernels/gpu/hopper_schedule.cuh"

#if ATTN_BIAS && !defined(ATTN_ADDED)
#define ATTN_ADDED 1  // the bias is all that changes scores
#endif

namespace attn::gpu {

__device__ __forceinline__ float minus_infinity() {
  return __int_as_float(static_cast<int>(0xff800000u));
}
using int64 = long long;  // @score

}  // namespace attn::gpu

#include "kernels/gpu/score.cuh"  // @score

namespace attn::gpu {

// The 64 rows of a consumer, and the two of this lane, in one key tile.
struct Rows {
  int low, own;              // first row of the 64; first of this lane, the other 8 further
  int seen_by_any;           // no row sees this key or one after it
  int seen_by_all;           // every row sees keys to here, this one not among them, if it sees those before
  int begin_any, begin_all;  // no row sees a key before; every row sees keys from here on

  __device__ __forceinline__ Rows(const HopperArgs& a, const Work& work, int consumer) {
    low = work.row + 64 * consumer;
    own = low + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    seen_by_any = min(work.length, query_of(low + 63) + a.last_shift);
    seen_by_all = min(work.length, query_of(low) + a.last_shift);
    begin_any = query_of(low) + a.first_shift;
    begin_all = query_of(low + 63) + a.first_shift;
  }
  __device__ __forceinline__ bool see_nothing(int key) const {
    return key >= seen_by_any || (kCutBefore && key + ATTN_BC <= begin_any);
  }
  __device__ __forceinline__ bool cut_behind(int key) const { return key > seen_by_all; }
  __device__ __forceinline__ bool cut_before(int key) const { return kCutBefore && key < begin_all; }
};

// -inf for keys that a row does not see; the tile's columns begin with `key`.
template <int N>
__device__ __forceinline__ void mask(const HopperArgs& a, const Work& work, const Rows& rows, int key,
                                     float (&s)[N / 2]) {
  // @phase mask
  const int column = key + 2 * (threadIdx.x % 4);
  if (rows.cut_behind(key + N)) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int end = min(work.length, query_of(rows.own + 8 * h) + a.last_shift) - column;
#pragma unroll
      for (int t = 0; t < N / 8; ++t) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          if (8 * t + e >= end) s[4 * t + 2 * h + e] = minus_infinity();
        }
      }
    }
  }
  if (rows.cut_before(key)) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int begin = query_of(rows.own + 8 * h) + a.first_shift - column;
#pragma unroll
      for (int t = 0; t < N / 8; ++t) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          if (8 * t + e < begin) s[4 * t + 2 * h + e] = minus_infinity();
        }
      }
    }
  }
}

// Scores of Q K^T become scaled ones in base 2 with all that changes them; before mask(). A bias of -inf hides the key,
// whatever its score is.
template <int N>
__device__ __forceinline__ void shape(const HopperArgs& a, const Work& work, const Rows& rows, int key,
                                      float (&s)[N / 2]) {
  // @phase mask
#if ATTN_BIAS
  constexpr float kLog2E = 1.4426950408889634f;
  Args cap;                                 // @score
  cap.softcap = a.softcap;                  // @score
  cap.softcap_inverse = a.softcap_inverse;  // @score
  const int column = key + 2 * (threadIdx.x % 4), batch = work.batch(a);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = rows.own + 8 * h, query = query_of(row), head = work.head(a) * ATTN_PACK + row % ATTN_PACK;
#if ATTN_ADDED
    const float* bias = a.bias + batch * a.bias_b + head * a.bias_h + query * a.bias_r + column * a.bias_c;
    const int columns = query < a.Lq ? a.Lk - column : 0;  // that the bias has
#endif
#if ATTN_ALIBI                                                                                       // @score
    const float slope = a.slopes[batch * a.slopes_b + min(head, a.heads * ATTN_PACK - 1)] * kLog2E;  // @score
    const float own = static_cast<float>(query + a.Lk - a.Lq - column);                              // @score
#endif                                                                                               // @score
#pragma unroll
    for (int t = 0; t < N / 8; ++t) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float& x = s[4 * t + 2 * h + e];
        const int c = 8 * t + e;
        float shaped = x * a.scale_log2;
        shaped = capped_score(cap, shaped, kLog2E);  // @score
#if ATTN_ADDED
        const float more = c < columns ? bias[c * a.bias_c] : minus_infinity();
        shaped = more == minus_infinity() ? more : fmaf(more, kLog2E, shaped);
#endif
#if ATTN_ALIBI                                                              // @score
        shaped = fmaf(-slope, fabsf(own - static_cast<float>(c)), shaped);  // @score
#endif                                                                      // @score
        x = shaped;
      }
    }
  }
#endif
}

// The rows of a V tile that lie beyond the batch's key length may hold anything, and 0 times NaN is NaN: zero them. Every
// consumer does, for itself: all write the same.
template <int N>
__device__ __forceinline__ void zero_beyond(const HopperArgs& a, const Work& work, int consumer, int key, unsigned v) {
  // @phase V
  if (key + N <= work.length || work.length >= a.Lk) return;
  const int from = max(0, work.length - key), chunks = (N - from) * 8;
#pragma unroll 1
  for (int i = threadIdx.x % 128; i < chunks * kAt.v_panels; i += 128) {
    const unsigned to = v + i / chunks * kPanel + from * 128 + i % chunks * 16;
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
  }
  publish_stores();
  warpgroup_sync(consumer);
}

}  // namespace attn::gpu
