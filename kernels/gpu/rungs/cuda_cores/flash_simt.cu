// flash_simt: FlashAttention-2 on CUDA cores (Dao 2023, algorithm 1), fp32.
//
//   for each query tile i (one block):                      Q_i to shared memory; m = -inf, l = 0, O = 0
//     for each key tile j that the mask does not hide:
//       S = scale Q_i K_j^T, masked                         in registers
//       m_new = max(m, rowmax S);  alpha = exp(m - m_new)
//       P = exp(S - m_new);  l = alpha l + rowsum P         in registers
//       O = alpha O + P V_j
//     O = O / l;  LSE = m + ln l
//
// The idea. The softmax is taken while the keys go by: when a larger score appears, what was summed so far is
// multiplied by alpha. S and P exist for one tile at a time and never reach device memory, so its traffic falls from
// O(L^2) to the inputs, K and V once for each query tile.
//
// New against the rung before (tiled): one kernel in place of three, and no S or P in memory. The products are tiled's:
// a thread holds 8 x 8 of S and 8 x Dv/16 of O in registers. 16 lanes share a row, so the row maximum is four shuffles,
// and P goes to the second product through a small tile of shared memory that only its own warp touches.
//
// K and V come in chunks of about 16 KB through two buffers: while one is multiplied the next is on its way
// (cp.async from sm_80 on; before, the copy goes through registers and is not hidden). One barrier a chunk.
// Scores are kept in base 2, with log2 e in the scale: exp2 is the hardware's exponential.
//
// What limits it now. The multiply-add rate of the CUDA cores; a quarter as many shared-memory reads stand beside
// them. The tensor cores, which do the same products many times faster, are idle: that is the next rung.
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/flash_simt_layout.h"
#include "kernels/gpu/trace.cuh"

namespace attn::gpu {

constexpr FlashSimtLayout kAt = flash_simt_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC, ATTN_THREADS);
constexpr int kRt = kAt.rows_a_thread;         // rows of a thread
constexpr int kCt = ATTN_BC / 16;              // columns of a thread in S
constexpr int kDt = kAt.v_columns / 64;        // groups of 4 columns of a thread in O
constexpr int kVt = kAt.v_keys / 16;           // columns of S in one V chunk
constexpr int kDepthUnroll = kDt > 2 ? 1 : 2;  // with more of O in registers a second copy of the loop would spill
constexpr int kKChunks = kAt.q_columns / kAt.k_depth;
constexpr int kVChunks = ATTN_BC / kAt.v_keys;

// ---- copies to shared memory

// 16 (or 4) bytes; zero where `valid` is false, and then `from` is not read.
template <int BYTES>
__device__ inline void copy_async(float* to, const float* from, bool valid) {
#if __CUDA_ARCH__ >= 800
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  const int size = valid ? BYTES : 0;
  if constexpr (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(size) : "memory");
  }
#else
  if constexpr (BYTES == 16) {
    *reinterpret_cast<float4*>(to) = valid ? *reinterpret_cast<const float4*>(from) : make_float4(0, 0, 0, 0);
  } else {
    *to = valid ? *from : 0.0f;
  }
#endif
}

__device__ inline void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// ROWS x COLS of a row-major matrix `width` wide; what lies beyond `rows` and `columns` is zero.
template <int ROWS, int COLS, int STRIDE>
__device__ inline void copy_tile(float* to, const float* from, int width, int64 rows, int columns) {
  constexpr int kStep = ATTN_ALIGNED ? 4 : 1;
  constexpr int kAcross = COLS / kStep;
#pragma unroll 1
  for (int at = threadIdx.x; at < ROWS * kAcross; at += ATTN_THREADS) {
    const int row = at / kAcross, column = at % kAcross * kStep;
    const bool valid = row < rows && column < columns;
    copy_async<4 * kStep>(to + row * STRIDE + column, valid ? from + int64{row} * width + column : from, valid);
  }
}

// ---- one block's work

struct Lane {
  int tx;    // 0..15: which columns
  int row;   // first of this thread's rows in the tile; the others follow at steps of 2
  float* p;  // the P tile of this warp, at this thread's first row
};

// S += Q_i K_j^T over one chunk of dimensions.
__device__ inline void add_scores(const float* q, const float* k, const Lane& at, float (&s)[kRt][kCt]) {
  // @phase S
#pragma unroll kDepthUnroll
  for (int d = 0; d < kAt.k_depth; d += 4) {
    float4 y[kCt];
#pragma unroll
    for (int j = 0; j < kCt; ++j) y[j] = shared4(k + (at.tx + 16 * j) * kAt.k_stride + d);
#pragma unroll
    for (int i = 0; i < kRt; ++i) {
      const float4 x = shared4(q + (at.row + 2 * i) * kAt.q_stride + d);
#pragma unroll
      for (int j = 0; j < kCt; ++j) s[i][j] = fmaf(x.x, y[j].x, s[i][j]);
#pragma unroll
      for (int j = 0; j < kCt; ++j) s[i][j] = fmaf(x.y, y[j].y, s[i][j]);
#pragma unroll
      for (int j = 0; j < kCt; ++j) s[i][j] = fmaf(x.z, y[j].z, s[i][j]);
#pragma unroll
      for (int j = 0; j < kCt; ++j) s[i][j] = fmaf(x.w, y[j].w, s[i][j]);
    }
  }
}

// O += P V_j over one chunk of keys; P of that chunk lies in the warp's tile.
__device__ inline void add_output(const float* v, const Lane& at, float (&o)[kRt][kDt][4]) {
  // @phase O
#pragma unroll 1
  for (int c = 0; c < kAt.v_keys; c += 4) {
    float p[kRt][4];
#pragma unroll
    for (int i = 0; i < kRt; ++i) {
      const float4 x = shared4(at.p + 2 * i * kAt.p_stride + c);
      p[i][0] = x.x;
      p[i][1] = x.y;
      p[i][2] = x.z;
      p[i][3] = x.w;
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int n = 0; n < kDt; ++n) {
        const float4 y = shared4(v + (c + e) * kAt.v_columns + at.tx * 4 + 64 * n);
#pragma unroll
        for (int i = 0; i < kRt; ++i) {
          o[i][n][0] = fmaf(p[i][e], y.x, o[i][n][0]);
          o[i][n][1] = fmaf(p[i][e], y.y, o[i][n][1]);
          o[i][n][2] = fmaf(p[i][e], y.z, o[i][n][2]);
          o[i][n][3] = fmaf(p[i][e], y.w, o[i][n][3]);
        }
      }
    }
  }
}

__device__ inline float max_of_row(float x) {
#pragma unroll
  for (int lane = 8; lane > 0; lane /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, lane));
  return x;
}
__device__ inline float sum_of_row(float x) {
#pragma unroll
  for (int lane = 8; lane > 0; lane /= 2) x += __shfl_xor_sync(0xffffffffu, x, lane);
  return x;
}

// A distance in rows or keys, cut to what 32 bits hold with room: beyond a tile it no longer matters how far.
__device__ inline int near(int64 distance) {
  constexpr int64 kFar = 1 << 20;
  return static_cast<int>(distance > kFar ? kFar : distance < -kFar ? -kFar : distance);
}

// Scores of tile j in base 2, with bias; -inf where a key is hidden or beyond the end.
__device__ inline void mask_scores(const Args& a, int64 head, int64 r0, int64 c0, int64 length, const Lane& at,
                                   float (&s)[kRt][kCt]) {
  // @phase mask
  // Row i of the tile sees the tile's columns from first + i to the lesser of last + i and end.
#if ATTN_MASKED
  const int first = near(r0 + a.first_shift - c0), last = near(r0 + a.last_shift - c0);
#endif
  const int end = near(length - c0), rows = near(a.Lq - r0);
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
    const int row = at.row + 2 * i;
#pragma unroll
    for (int j = 0; j < kCt; ++j) {
      const int c = at.tx + 16 * j;
      bool seen = c < end && row < rows;
#if ATTN_MASKED
      seen = seen && c >= first + row && c < last + row;
#endif
      s[i][j] = seen ? with_bias(a, head, r0 + row, c0 + c, s[i][j], kLog2E) : minus_infinity();
    }
  }
}

// The online softmax: S becomes P; m, l and O follow. l is this thread's share of its row's sum until the end.
__device__ inline void softmax_step(float (&s)[kRt][kCt], float (&m)[kRt], float (&l)[kRt], float (&o)[kRt][kDt][4]) {
  // @phase m
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
    float larger = m[i];
#pragma unroll
    for (int j = 0; j < kCt; ++j) larger = fmaxf(larger, s[i][j]);
    larger = max_of_row(larger);
    // No key of weight yet: -inf - -inf would be NaN.
    const float shift = larger == minus_infinity() ? 0.0f : larger;
    // @phase alpha
    const float alpha = m[i] == larger ? 1.0f : exp2_fast(m[i] - shift);
    // @phase m
    m[i] = larger;
    // @phase P
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kCt; ++j) {
      s[i][j] = exp2_fast(s[i][j] - shift);
      // @phase l
      sum += s[i][j];
    }
    l[i] = l[i] * alpha + sum;
    ATTN_TRACE(trace_alpha(i, alpha));
    // @phase O
#pragma unroll
    for (int n = 0; n < kDt; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) o[i][n][e] *= alpha;
    }
  }
}

// O / l and LSE. A row that saw no key of weight: 0 and -inf.
__device__ inline void store(const Args& a, int64 head, int64 r0, const Lane& at, const float (&m)[kRt],
                             const float (&l)[kRt], const float (&o)[kRt][kDt][4]) {
  // @phase store
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
    const int64 r = r0 + at.row + 2 * i;
    // @phase l
    const float sum = sum_of_row(l[i]);
    // @phase store
    if (r >= a.Lq) continue;
    const int64 row = head * a.Lq + r;
    // @phase normalise
    const bool none = sum == 0.0f;
    const float inverse = 1.0f / sum;
    // @phase store
    float* out = static_cast<float*>(a.out) + row * ATTN_DV;
#pragma unroll
    for (int n = 0; n < kDt; ++n) {
      const int d = at.tx * 4 + 64 * n;
      // @phase normalise
      float x[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) x[e] = none ? 0.0f : o[i][n][e] * inverse;
      ATTN_TRACE(trace_normalised(a, head, r0, at.row + 2 * i, d, x));
      // @phase store
      if (ATTN_ALIGNED) {
        if (d < ATTN_DV) *reinterpret_cast<float4*>(out + d) = make_float4(x[0], x[1], x[2], x[3]);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (d + e < ATTN_DV) out[d + e] = x[e];
        }
      }
    }
    if (at.tx == 0) a.lse[row] = none ? minus_infinity() : (m[i] + log2f(sum)) * kLn2;
  }
}

// Chunk `n` of key tile j: K chunks first, then V chunks.
__device__ inline void fetch_chunk(const Args& a, const float* k, const float* v, int64 j, int n, float* to) {
  // @phase K
  const int64 c0 = j * ATTN_BC;
  if (n < kKChunks) {
    const int d0 = n * kAt.k_depth;
    copy_tile<ATTN_BC, kAt.k_depth, kAt.k_stride>(to, k + c0 * ATTN_D + d0, ATTN_D, a.Lk - c0, ATTN_D - d0);
  } else {
    // @phase V
    const int64 key = c0 + (n - kKChunks) * kAt.v_keys;
    // A chunk may lie wholly beyond the end; its address is then not formed.
    copy_tile<kAt.v_keys, kAt.v_columns, kAt.v_columns>(to, key < a.Lk ? v + key * ATTN_DV : v, ATTN_DV, a.Lk - key,
                                                        ATTN_DV);
  }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_simt(const Args a) {
  extern __shared__ __align__(16) float shared[];
  // @phase setup
  const unsigned tiles = static_cast<unsigned>((a.Lq + ATTN_BR - 1) / ATTN_BR);
  const int64 head = blockIdx.x / tiles;
  // Under a causal mask later query tiles see more keys: the longest start first.
  const int64 r0 = int64{tiles - 1 - blockIdx.x % tiles} * ATTN_BR;
  const int64 r_last = (r0 + ATTN_BR < a.Lq ? r0 + ATTN_BR : a.Lq) - 1;
  const int64 length = key_length(a, head);
  const float* k = static_cast<const float*>(a.k) + kv_head(a, head) * a.Lk * ATTN_D;
  const float* v = static_cast<const float*>(a.v) + kv_head(a, head) * a.Lk * ATTN_DV;

  const int lane = threadIdx.x % 32;
  Lane at;
  at.tx = lane % 16;
  at.row = static_cast<int>(threadIdx.x) / 32 * 2 * kRt + lane / 16;
  at.p = shared + kAt.p_at + at.row * kAt.p_stride;
  float* const stages = shared + kAt.stages_at;

  float m[kRt], l[kRt], o[kRt][kDt][4];
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
    m[i] = minus_infinity();
    l[i] = 0;
#pragma unroll
    for (int n = 0; n < kDt; ++n) o[i][n][0] = o[i][n][1] = o[i][n][2] = o[i][n][3] = 0;
  }

  // Key tiles [j, j_end) that some row of this query tile sees.
  const int64 last = last_key(a, length, r_last);
  const int64 j_end = last > 0 ? (last + ATTN_BC - 1) / ATTN_BC : 0;
  int64 j = first_key(a, r0) / ATTN_BC;
  int now = 0;  // the buffer whose chunk is multiplied
  if (j < j_end) {
    // @phase Q
    copy_tile<ATTN_BR, kAt.q_columns, kAt.q_stride>(
        shared, static_cast<const float*>(a.q) + (head * a.Lq + r0) * ATTN_D, ATTN_D, a.Lq - r0, ATTN_D);
    // @phase K
    fetch_chunk(a, k, v, j, 0, stages);
  }
  // @phase loop
  for (; j < j_end; ++j) {
    // @phase S
    float s[kRt][kCt] = {};
    // @phase loop
#pragma unroll 1
    for (int n = 0; n < kKChunks; ++n, now ^= 1) {
      // @phase barrier
      wait_for_copies();
      __syncthreads();  // this chunk has come, and nobody reads the other buffer any more
      // @phase loop
      fetch_chunk(a, k, v, j, n + 1, stages + (now ^ 1) * kAt.stage);
      // @phase S
      add_scores(shared + n * kAt.k_depth, stages + now * kAt.stage, at, s);
    }
    // @phase S
    const int64 c0 = j * ATTN_BC;
#pragma unroll
    for (int i = 0; i < kRt; ++i) {
#pragma unroll
      for (int x = 0; x < kCt; ++x) s[i][x] *= a.scale_log2;
    }
    ATTN_TRACE(trace_begin(a, head, r0, j));
    ATTN_TRACE(trace_scores(kTrace.s, at.row, at.tx, s));
    // @phase mask
    // Whole tiles inside every row's range need no mask.
    const bool whole = c0 >= first_key(a, r_last) && c0 + ATTN_BC <= last_key(a, length, r0);
    if (ATTN_BIAS || !whole) mask_scores(a, head, r0, c0, length, at, s);
    ATTN_TRACE(trace_scores(kTrace.masked, at.row, at.tx, s));
    // @phase m
    softmax_step(s, m, l, o);
    ATTN_TRACE(trace_column(kTrace.m, at.row, at.tx, m));
    ATTN_TRACE(trace_scores(kTrace.p, at.row, at.tx, s));
    ATTN_TRACE(trace_lanes(at.row, at.tx, l));
    // @phase loop
#pragma unroll
    for (int n = 0; n < kVChunks; ++n, now ^= 1) {
      // @phase barrier
      wait_for_copies();
      __syncthreads();
      // @phase loop
      if (n + 1 < kVChunks) {
        fetch_chunk(a, k, v, j, kKChunks + n + 1, stages + (now ^ 1) * kAt.stage);
      } else if (j + 1 < j_end) {
        fetch_chunk(a, k, v, j + 1, 0, stages + (now ^ 1) * kAt.stage);
      }
      // @phase P
#pragma unroll
      for (int i = 0; i < kRt; ++i) {
#pragma unroll
        for (int x = 0; x < kVt; ++x) at.p[2 * i * kAt.p_stride + at.tx + 16 * x] = s[i][n * kVt + x];
      }
      // @phase barrier
      __syncwarp();
      // @phase O
      add_output(stages + now * kAt.stage, at, o);
      // @phase barrier
      __syncwarp();  // all lanes have read this P before the next overwrites it
    }
    ATTN_TRACE(trace_output(kTrace.o, at.row, at.tx, o));
  }
  // @phase store
  store(a, head, r0, at, m, l, o);
}

}  // namespace attn::gpu
