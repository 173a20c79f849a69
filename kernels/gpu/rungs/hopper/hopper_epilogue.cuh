// The way out: O / l and LSE. A row that saw no key of weight: 0 and -inf.
#pragma once

#include "kernels/gpu/hopper_descriptor.cuh"
#include "kernels/gpu/hopper_map.cuh"
#include "kernels/gpu/hopper_mask.cuh"
#include "kernels/gpu/hopper_softmax.cuh"
#include "kernels/gpu/hopper_trace.cuh"

namespace attn::gpu {

// What O's pairs of neighbours are in memory; LSE is stored on the way.
struct Normalised {
  float inverse[2];
  bool none[2];

  __device__ __forceinline__ Normalised(const HopperArgs& a, const Work& work, const Rows& rows, const Softmax& x) {
    // @phase normalise
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float sum = sum_of_row(x.l[h]);
      none[h] = sum == 0.0f;
      inverse[h] = 1.0f / sum;
      const int row = rows.own + 8 * h;
      if (threadIdx.x % 4 == 0 && row < a.rows) {
        const long long head = static_cast<long long>(work.of_all) * ATTN_PACK + row % ATTN_PACK;
        constexpr float kLn2 = 0.6931471805599453f;
        a.lse[head * a.Lq + query_of(row)] = none[h] ? minus_infinity() : (x.m[h] + log2f(sum)) * kLn2;
      }
    }
  }
  // Columns 8 t + 2 (lane % 4) and the next of row h.
  __device__ __forceinline__ unsigned pair(const float (&o)[kDv / 2], int t, int h) const {
    // @phase normalise
    const int i = 4 * t + 2 * h;
    if (i >= kDv / 2 || none[h]) return 0;  // Dv is an odd number of eights
    return packed(o[i] * inverse[h], o[i + 1] * inverse[h]);
  }
};

// In fp32 O is what the sums are, and leaves straight from the registers: four lanes that share a row write its 32 bytes.
template <class To>
__device__ __forceinline__ void store_sums(const HopperArgs& a, const Work& work, const Rows& rows,
                                           const Normalised& out, const float (&o)[kDv / 2], To* to) {
  // @phase store
  constexpr int kEach = sizeof(To) / sizeof(float);  // columns of a store: two where rows begin on 8 bytes
  const int batch = work.batch(a), head = work.head(a) * ATTN_PACK;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = rows.own + 8 * h, column = 2 * (threadIdx.x % 4);
    if (row >= a.rows) continue;
    To* line = to + (batch * a.out_b + (head + row % ATTN_PACK) * a.out_h + query_of(row) * a.out_r) / kEach;
#pragma unroll
    for (int t = 0; t < kDv / 8; ++t) {
      const float x = out.none[h] ? 0 : o[4 * t + 2 * h] * out.inverse[h];
      const float y = out.none[h] ? 0 : o[4 * t + 2 * h + 1] * out.inverse[h];
      const int at = 8 * t + column;
      if constexpr (kEach == 2) {
        if (at < ATTN_DV) line[at / 2] = make_float2(x, y);
      } else {
        if (at < ATTN_DV) line[at] = x;
        if (at + 1 < ATTN_DV) line[at + 1] = y;
      }
    }
  }
}
__device__ __forceinline__ void store_sums(const HopperArgs& a, const Work& work, const Rows& rows,
                                           const Normalised& out, const float (&o)[kDv / 2]) {
  if constexpr (ATTN_DV % 2 == 0) {
    store_sums(a, work, rows, out, o, static_cast<float2*>(a.out));
  } else {
    store_sums(a, work, rows, out, o, static_cast<float*>(a.out));
  }
}

// The rows that O left through are free again. By the lane that stored them.
__device__ __forceinline__ void hand_back(unsigned empty) {
  stores_have_read();
  barrier_arrive(empty);
}

// Through the rows of Q that its warp has read: each warp stores its own 16 rows by TMA and waits for nobody; rows and
// columns that do not exist are cut off by the map. `to`: this consumer's buffer of Q; `empty`: the barrier that hands
// it back.
__device__ __forceinline__ void finish(const HopperArgs& a, const HopperMap& map, const Work& work, const Rows& rows,
                                       const Softmax& x, const float (&o)[kDv / 2], unsigned to, unsigned empty) {
  // @phase store
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const Normalised out(a, work, rows, x);
  ATTN_TRACE(trace_result(a, work, rows, out, o));
  if constexpr (kSumsLeave) {
    store_sums(a, work, rows, out, o);
    __syncwarp();
    if (lane == 0 && !kHandsBackLate) hand_back(empty);
    return;
  }
  const unsigned own = to + warp * 2048;
#pragma unroll
  for (int k = 0; k < (kDv + 15) / 16; ++k) {
    const unsigned at = own + k / 4 * 8192 + swizzled_chunk(lane % 16, k % 4 * 2 + lane / 16);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(out.pair(o, 2 * k, 0)), "r"(out.pair(o, 2 * k, 1)), "r"(out.pair(o, 2 * k + 1, 0)),
                 "r"(out.pair(o, 2 * k + 1, 1))
                 : "memory");
  }
  publish_stores();
  __syncwarp();
  if (lane == 0) {
    const int batch = work.batch(a), head = work.head(a);
#pragma unroll
    for (int p = 0; p < kAt.v_panels; ++p) {
      store_rows(map, own + p * 8192, 64 * p, query_of(rows.low + warp * 16), head, batch);
    }
    commit_stores();
    if (!kHandsBackLate) hand_back(empty);
  }
  __syncwarp();
}

// Straight from the registers, where no room of shared memory is free: four lanes that share a row change pairs among
// them, so that each stores 16 bytes.
__device__ __forceinline__ void finish_straight(const HopperArgs& a, const Work& work, const Rows& rows,
                                                const Softmax& x, const float (&o)[kDv / 2]) {
  // @phase store
  const int place = threadIdx.x % 4;
  const Normalised out(a, work, rows, x);
  ATTN_TRACE(trace_result(a, work, rows, out, o));
  if constexpr (kSumsLeave) {
    store_sums(a, work, rows, out, o);
    return;
  }
  const int batch = work.batch(a), head = work.head(a) * ATTN_PACK;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = rows.own + 8 * h;
    const long long first = batch * a.out_b + (head + row % ATTN_PACK) * a.out_h + query_of(row) * a.out_r;
    unsigned short* to = static_cast<unsigned short*>(a.out) + first + 8 * place;
#pragma unroll
    for (int t = 0; t < kDv / 8; t += 4) {
      // Lane i gives pair j of its four to lane j, and keeps what lane i of the four asks for: two rounds of halves.
      unsigned u[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) u[j] = out.pair(o, t + j, h);
      const bool odd = place & 1, high = place & 2;
      const unsigned r0 = __shfl_xor_sync(~0u, odd ? u[0] : u[1], 1), r1 = __shfl_xor_sync(~0u, odd ? u[2] : u[3], 1);
      const unsigned v0 = odd ? r0 : u[0], v1 = odd ? u[1] : r0, w0 = odd ? r1 : u[2], w1 = odd ? u[3] : r1;
      const unsigned q0 = __shfl_xor_sync(~0u, high ? v0 : w0, 2), q1 = __shfl_xor_sync(~0u, high ? v1 : w1, 2);
      if (row >= a.rows || 8 * (t + place) >= kDv) continue;
      *reinterpret_cast<uint4*>(to + 8 * t) = high ? make_uint4(q0, q1, w0, w1) : make_uint4(v0, v1, q0, q1);
    }
  }
}

// What a scale that is not positive lacks goes to Q: the maximum of S is that of scale S only where the scale is
// positive. Once a tile, hardly ever.
__device__ __forceinline__ void multiply_query(float factor, unsigned q, int consumer) {
  // @phase Q
#pragma unroll 1
  for (int i = threadIdx.x % 128; i < kAt.d_panels * 8192 / 4; i += 128) {
    unsigned x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(q + 4 * i) : "memory");
    x = factor < 0 ? x ^ 0x80008000u : 0u;
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(q + 4 * i), "r"(x) : "memory");
  }
  publish_stores();
  warpgroup_sync(consumer);
}

}  // namespace attn::gpu
