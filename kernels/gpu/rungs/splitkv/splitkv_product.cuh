// What a warp computes of a key tile: S = Q K_j^T, the mask, P, O += P V_j. On tensor cores in f16 and bf16; in fp32 by
// multiply-adds, with rows and columns in the same lanes.
#pragma once

#include "kernels/gpu/flash_tile.cuh"  // before device.cuh
#include "kernels/gpu/mma.cuh"
#include "kernels/gpu/splitkv_copy.cuh"

namespace attn::gpu {

constexpr int kMt = ATTN_BR / 16;  // tiles of 16 rows
constexpr int kDt = kAt.d / 16;    // steps of 16 along D
constexpr int kCt = ATTN_BC / 16;  // steps of 16 keys
constexpr int kOt = kAt.dv / 16;   // steps of 16 along Dv

using Scores = float[kMt][2 * kCt][4];  // S: fragments of 16 x 8
using WarpRows = Rows<kMt, 2 * kOt>;

// The maximum of S is that of scale S only where the scale is positive: what it lacks to that goes to Q, which then is
// where all lanes see it, and a positive scale comes back.
__device__ inline float scale_of_warp(float scale, unsigned q_at) {
  if (scale > 0) return scale;
  const float sign = scale < 0 ? -1.0f : 0.0f;
  for (int n = threadIdx.x % 32; n < ATTN_BR * kQWidth; n += 32) {
    auto* const x =
        static_cast<Element*>(__cvta_shared_to_generic(q_at + Swizzled<kQWidth>::at(n / kQWidth, n % kQWidth)));
#pragma unroll
    for (int i = 0; i < kPerChunk; ++i) x[i] = narrow(widen(x[i]) * sign);
  }
  __syncwarp();
  return scale < 0 ? -scale : 1.0f;
}

#if ATTN_DTYPE == 0

// Nothing is kept: Q is read again for every key tile.
struct Query {
  unsigned at;
  __device__ inline void take(unsigned q_at) { at = q_at; }
};

__device__ inline float4 read_four(unsigned at) {
  float4 x;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "r"(at));
  return x;
}
__device__ inline void add_product(float& sum, const float4& x, const float4& y) {
  sum = fmaf(x.x, y.x, sum);
  sum = fmaf(x.y, y.y, sum);
  sum = fmaf(x.z, y.z, sum);
  sum = fmaf(x.w, y.w, sum);
}

// S = Q K_j^T. `k_at`: the tile.
__device__ inline void find_scores(const Query& query, unsigned k_at, Scores& s) {
  // @phase S
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kCt; ++n) s[i][n][0] = s[i][n][1] = s[i][n][2] = s[i][n][3] = 0;
  }
#pragma unroll 1
  for (int c = 0; c < kQWidth; ++c) {
    float4 q[kMt][2];
#pragma unroll
    for (int i = 0; i < kMt; ++i) {
#pragma unroll
      for (int h = 0; h < 2; ++h) q[i][h] = read_four(query.at + Swizzled<kQWidth>::at(lane / 4 + 8 * h + 16 * i, c));
    }
#pragma unroll
    for (int n = 0; n < 2 * kCt; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float4 k = read_four(k_at + Swizzled<kQWidth>::at(8 * n + lane % 4 * 2 + e, c));
#pragma unroll
        for (int i = 0; i < kMt; ++i) {
          add_product(s[i][n][e], q[i][0], k);
          add_product(s[i][n][2 + e], q[i][1], k);
        }
      }
    }
  }
}

// P of the key tile and O += P V_j. P of a key is in one of the four lanes that share a row. `v_at`: the tile.
__device__ inline void weigh_and_add(unsigned v_at, Scores& s, float scale, WarpRows& rows) {
  const int lane = threadIdx.x % 32, column = lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kCt; ++n) {
#pragma unroll
      for (int x = 0; x < 4; ++x) {
        // @phase P
        s[i][n][x] = exp2_fast(fmaf(s[i][n][x], scale, -rows.m[i][x / 2]));
        // @phase l
        rows.l[i][x / 2] += s[i][n][x];
      }
    }
  }
  // @phase O
#pragma unroll
  for (int n = 0; n < 2 * kCt; ++n) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
#pragma unroll 1
      for (int quad = 0; quad < 4; ++quad) {
        float p[kMt][2];
#pragma unroll
        for (int i = 0; i < kMt; ++i) {
#pragma unroll
          for (int h = 0; h < 2; ++h) p[i][h] = __shfl_sync(0xffffffffu, s[i][n][2 * h + e], lane / 4 * 4 + quad);
        }
        const int key = 8 * n + quad * 2 + e;
#pragma unroll
        for (int t = 0; t < 2 * kOt; ++t) {
          // Eight columns are two chunks; this lane has two of them.
          float2 v;
          asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
                       : "=f"(v.x), "=f"(v.y)
                       : "r"(v_at + Swizzled<kVWidth>::at(key, 2 * t + column / 4) + column % 4 * 4));
#pragma unroll
          for (int i = 0; i < kMt; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
              rows.o[i][t][2 * h] = fmaf(p[i][h], v.x, rows.o[i][t][2 * h]);
              rows.o[i][t][2 * h + 1] = fmaf(p[i][h], v.y, rows.o[i][t][2 * h + 1]);
            }
          }
        }
      }
    }
  }
}

#else

__device__ inline void read_query(const Pieces<kQWidth>& from, int step, unsigned (&x)[kMt][4]) {
  // @phase Q
#pragma unroll
  for (int i = 0; i < kMt; ++i) ldmatrix(x[i], from.at(16 * i, step));
}

// Q's fragments, if they are kept; else where they lie.
struct Query {
  static constexpr int kStepsKept = kAt.q_in_registers ? kDt : 1;
  unsigned x[kStepsKept][kMt][4];
  unsigned at;
  __device__ inline void take(unsigned q_at) {
    const int lane = threadIdx.x % 32;
    at = q_at + Pieces<kQWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane));
    if constexpr (kAt.q_in_registers) {
#pragma unroll
      for (int d = 0; d < kDt; ++d) read_query(Pieces<kQWidth>(at), d, x[d]);
    }
  }
};

// S = Q K_j^T. `k_at`: the tile.
__device__ inline void find_scores(const Query& query, unsigned k_at, Scores& s) {
  // @phase S
  const int lane = threadIdx.x % 32;
  const Pieces<kQWidth> q_pieces(query.at),
      k_pieces(k_at + Pieces<kQWidth>::lane(ldmatrix_row_of_k(lane), ldmatrix_chunk_of_k(lane)));
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kCt; ++n) s[i][n][0] = s[i][n][1] = s[i][n][2] = s[i][n][3] = 0;
  }
#pragma unroll
  for (int d = 0; d < kDt; ++d) {
    unsigned x[kMt][4];
    const auto& read = x;
    if constexpr (!kAt.q_in_registers) read_query(q_pieces, d, x);
    const auto& q = kAt.q_in_registers ? query.x[d % Query::kStepsKept] : read;
#pragma unroll
    for (int c = 0; c < kCt; ++c) {
      unsigned y[4];
      ldmatrix(y, k_pieces.at(16 * c, d));
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        mma(s[i][2 * c], q[i], y[0], y[1]);
        mma(s[i][2 * c + 1], q[i], y[2], y[3]);
      }
    }
  }
}

// P of the key tile and O += P V_j; l takes P before it is rounded. `v_at`: the tile.
__device__ inline void weigh_and_add(unsigned v_at, const Scores& s, float scale, WarpRows& rows) {
  const int lane = threadIdx.x % 32;
  const Pieces<kVWidth> v_pieces(v_at + Pieces<kVWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane)));
#pragma unroll
  for (int c = 0; c < kCt; ++c) {
    unsigned p[kMt][4];
#pragma unroll
    for (int i = 0; i < kMt; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          // @phase P
          const float(&pair)[4] = s[i][2 * c + half];
          const float x = exp2_fast(fmaf(pair[2 * h], scale, -rows.m[i][h]));
          const float y = exp2_fast(fmaf(pair[2 * h + 1], scale, -rows.m[i][h]));
          // @phase l
          rows.l[i][h] += x;
          rows.l[i][h] += y;
          // @phase P
          p[i][2 * half + h] = pack(x, y);
        }
      }
    }
    // @phase O
#pragma unroll
    for (int d = 0; d < kOt; ++d) {
      unsigned y[4];
      ldmatrix_transposed(y, v_pieces.at(16 * c, d));
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        mma(rows.o[i][2 * d], p[i], y[0], y[1]);
        mma(rows.o[i][2 * d + 1], p[i], y[2], y[3]);
      }
    }
  }
}

#endif

// Where this warp's rows and the key tile lie.
struct Place {
  int batch, kv, row0, length;  // length: keys of the batch
  int all_from, all_to;         // keys that every row sees
};

// -inf where a key is hidden; with a bias, or where a formula changes scores, they become scaled ones in base 2.
__device__ inline void mask_scores(const SplitArgs& a, const Place& at, int block, Scores& s) {
  // @phase mask
  const int key0 = block * ATTN_BC;
  if (!ATTN_BIAS && key0 >= at.all_from && key0 + ATTN_BC <= at.all_to) return;
  const int lane = threadIdx.x % 32, column = key0 + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = at.row0 + lane / 4 + 16 * i + 8 * h, query = row / a.group;
      const int first = query + a.first_shift;
      int last = min(at.length, query + a.last_shift);
      if (row >= a.rows) last = 0;
#if ATTN_BIAS
      const int64 head = int64{at.batch} * a.problem.Hq + at.kv * a.group + row % a.group;
#endif
#pragma unroll
      for (int n = 0; n < 2 * kCt; ++n) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int key = column + 8 * n + e;
          float& x = s[i][n][2 * h + e];
          const bool seen = key >= first && key < last;
#if ATTN_BIAS
          const float scaled = __fmul_rn(x, a.problem.scale_log2);
          x = seen ? with_bias(a.problem, head, query, key, scaled, kLog2E) : minus_infinity();
#else
          x = seen ? x : minus_infinity();
#endif
        }
      }
    }
  }
}

}  // namespace attn::gpu
