// flash_bwd_simt: the backward of FlashAttention-2 on CUDA cores (Dao 2023, algorithm 2), fp32.
//
//   flash_bwd_simt_rows     delta = rowsum(dO * O), dQ = 0          one warp a row
//   flash_bwd_simt_keys     for each key tile j (one block):         K_j, V_j to shared memory; dK = dV = 0
//     for each query tile i that sees it:                            Q_i, dO_i to shared memory
//       S = scale Q_i K_j^T, masked;  dP = dO_i V_j^T                in registers
//       P = exp(S - LSE);  dS = P (dP - delta)                       to shared memory
//       dV += P^T dO_i;  dK += dS^T Q_i                              in registers
//       dQ_i += scale dS K_j                                         in device memory, by fp32 reductions
//     dK = scale dK
//
// The idea. Of the forward only O and LSE were kept. P = exp(S - LSE) needs neither maximum nor sum, so S and P are
// computed again, a tile at a time. What the softmax takes off its gradient is one number a row, delta.
//
// The key tile is outside: its dK and dV stay in registers while the query tiles go by. A row of dQ gets a part from
// each key tile, so blocks add into it: in whatever order they come, and the bits of dQ are not the same in each run.
// With `deterministic` dQ is left out there, and a kernel with the query tile outside computes S, P and dS once more:
//
//   flash_bwd_simt_queries  for each query tile i (one block): for each key tile j that it sees: dQ += scale dS K_j
//
// New against the rung before (naive_bwd): P and dS never reach device memory, and one kernel does all five products.
//
// What limits it now. The multiply-add rate of the CUDA cores, and the waits for Q_i and dO_i, which come while nothing
// else is done by the block.
#include "kernels/gpu/backward.cuh"
#include "kernels/gpu/flash_bwd_simt_layout.h"

namespace attn::gpu {

constexpr FlashBwdSimtLayout kAt = flash_bwd_simt_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC);
constexpr int kRt = ATTN_BR / 16;  // rows of a thread in S, and in dQ
constexpr int kCt = ATTN_BC / 16;  // columns of a thread in S, and its keys in dK and dV
constexpr int kDt = kAt.d / 64;    // groups of 4 columns of a thread in dK and dQ
constexpr int kDvt = kAt.dv / 64;  // the same in dV
constexpr int kDepth = (ATTN_D + 3) / 4 * 4, kDepthV = (ATTN_DV + 3) / 4 * 4;

static_assert(ATTN_THREADS == kFlashBwdSimtThreads);

// Threads lie 16 x 16.
struct Lane {
  int x, y;
};
__device__ inline Lane lane_here() {
  return {static_cast<int>(threadIdx.x) % 16, static_cast<int>(threadIdx.x) / 16};
}

// A distance in rows or keys, cut to what 32 bits hold with room: beyond a tile it no longer matters how far.
__device__ inline int near(int64 distance) {
  constexpr int64 kFar = 1 << 20;
  return static_cast<int>(distance > kFar ? kFar : distance < -kFar ? -kFar : distance);
}

// ROWS rows of a row-major matrix `WIDTH` wide; what lies beyond `rows` and beyond WIDTH is zero and is not read.
template <int ROWS, int WIDTH, int COLUMNS, int STRIDE>
__device__ inline void copy_tile(float* to, const float* from, int rows) {
  constexpr int kAcross = COLUMNS / 4;
#pragma unroll 4
  for (int n = threadIdx.x; n < ROWS * kAcross; n += ATTN_THREADS) {
    const int row = n / kAcross, column = n % kAcross * 4;
    float4 x = make_float4(0, 0, 0, 0);
    if (row < rows) x = load4(from + int64{row} * WIDTH + column, WIDTH - column, ATTN_ALIGNED);
    *reinterpret_cast<float4*>(to + row * STRIDE + column) = x;
  }
}

__device__ inline void copy_keys(const Args& a, float* shared, int64 kv, int64 c0, int keys) {
  const int64 row = kv * a.Lk + c0;
  // @phase K
  copy_tile<ATTN_BC, ATTN_D, kAt.d, kAt.d_stride>(shared + kAt.k_at, static_cast<const float*>(a.k) + row * ATTN_D,
                                                  keys);
  // @phase V
  copy_tile<ATTN_BC, ATTN_DV, kAt.dv, kAt.dv_stride>(shared + kAt.v_at, static_cast<const float*>(a.v) + row * ATTN_DV,
                                                     keys);
}

__device__ inline void copy_queries(const Args& a, const BackwardArgs& g, float* shared, int64 head, int64 r0) {
  const int64 row = head * a.Lq + r0;
  const int rows = near(a.Lq - r0);
  // @phase Q
  copy_tile<ATTN_BR, ATTN_D, kAt.d, kAt.d_stride>(shared + kAt.q_at, static_cast<const float*>(a.q) + row * ATTN_D,
                                                  rows);
  // @phase dO
  copy_tile<ATTN_BR, ATTN_DV, kAt.dv, kAt.dv_stride>(shared + kAt.d_o_at,
                                                     static_cast<const float*>(g.d_o) + row * ATTN_DV, rows);
  // @phase delta
  if (threadIdx.x < ATTN_BR) {
    shared[kAt.shift_at + threadIdx.x] = g.shift[head * g.rows + r0 + threadIdx.x];
    shared[kAt.delta_at + threadIdx.x] = g.delta[head * g.rows + r0 + threadIdx.x];
  }
}

// The tile of X Y^T: row y + 16 i of X, row x + 16 j of Y.
template <int DEPTH, int STRIDE>
__device__ inline void add_product(const float* x, const float* y, const Lane& at, float (&s)[kRt][kCt]) {
#pragma unroll 2
  for (int d = 0; d < DEPTH; d += 4) {
    float4 v[kCt];
#pragma unroll
    for (int j = 0; j < kCt; ++j) v[j] = shared4(y + (at.x + 16 * j) * STRIDE + d);
#pragma unroll
    for (int i = 0; i < kRt; ++i) {
      const float4 u = shared4(x + (at.y + 16 * i) * STRIDE + d);
#pragma unroll
      for (int j = 0; j < kCt; ++j) {
        s[i][j] = fmaf(u.x, v[j].x, s[i][j]);
        s[i][j] = fmaf(u.y, v[j].y, s[i][j]);
        s[i][j] = fmaf(u.z, v[j].z, s[i][j]);
        s[i][j] = fmaf(u.w, v[j].w, s[i][j]);
      }
    }
  }
}

// P and dS of one tile, to shared memory. `length`: keys of the batch.
__device__ inline void weigh(const Args& a, float* shared, int64 head, int64 r0, int64 c0, int64 length,
                             const Lane& at) {
  // @phase S
  float s[kRt][kCt] = {};
  add_product<kDepth, kAt.d_stride>(shared + kAt.q_at, shared + kAt.k_at, at, s);
  // @phase mask
  // Row i of the tile sees the tile's columns from first + i to the lesser of last + i and end.
#if ATTN_MASKED
  const int first = near(r0 + a.first_shift - c0), last = near(r0 + a.last_shift - c0);
#endif
  const int end = near(length - c0), rows = near(a.Lq - r0);
  float slopes[kRt][kCt];  // @score
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
    const int row = at.y + 16 * i;
    const float shift = shared[kAt.shift_at + row];
#pragma unroll
    for (int j = 0; j < kCt; ++j) {
      const int c = at.x + 16 * j;
      // @phase mask
      bool seen = c < end && row < rows;
#if ATTN_MASKED
      seen = seen && c >= first + row && c < last + row;
#endif
      float score = s[i][j] * a.scale_log2;
      slopes[i][j] = slope_of_score(a, score, kLog2E);  // @score
      score = seen ? with_bias(a, head, r0 + row, c0 + c, score, kLog2E) : minus_infinity();
      // @phase P
      s[i][j] = exp2_fast(score - shift);
    }
  }
  // @phase P
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
#pragma unroll
    for (int j = 0; j < kCt; ++j) shared[kAt.p_at + (at.y + 16 * i) * kAt.s_stride + at.x + 16 * j] = s[i][j];
  }
  // @phase dP
  float d_p[kRt][kCt] = {};
  add_product<kDepthV, kAt.dv_stride>(shared + kAt.d_o_at, shared + kAt.v_at, at, d_p);
  // @phase dS
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
    const float delta = shared[kAt.delta_at + at.y + 16 * i];
#pragma unroll
    for (int j = 0; j < kCt; ++j) {
      float d_s = s[i][j] * (d_p[i][j] - delta);
      d_s *= slopes[i][j];  // @score
      shared[kAt.d_s_at + (at.y + 16 * i) * kAt.s_stride + at.x + 16 * j] = d_s;
    }
  }
}

// `count` neighbours of shared memory, that lie on as many floats.
template <int COUNT>
__device__ inline void read_neighbours(const float* from, float (&to)[COUNT]) {
  if constexpr (COUNT % 4 == 0) {
#pragma unroll
    for (int n = 0; n < COUNT; n += 4) {
      const float4 x = shared4(from + n);
      to[n] = x.x;
      to[n + 1] = x.y;
      to[n + 2] = x.z;
      to[n + 3] = x.w;
    }
  } else {
#pragma unroll
    for (int n = 0; n < COUNT; ++n) to[n] = from[n];
  }
}

// sum[k][...] += sum_r X[r][key] Y[r][...]: keys y kCt + k, columns 4 x + 64 n. X is P or dS, Y is dO or Q.
template <int GROUPS, int STRIDE>
__device__ inline void add_to_keys(const float* x, const float* y, const Lane& at, float (&sum)[kCt][GROUPS][4]) {
#pragma unroll 2
  for (int r = 0; r < ATTN_BR; ++r) {
    float w[kCt];
    read_neighbours(x + r * kAt.s_stride + at.y * kCt, w);
#pragma unroll
    for (int n = 0; n < GROUPS; ++n) {
      const float4 v = shared4(y + r * STRIDE + 4 * at.x + 64 * n);
#pragma unroll
      for (int k = 0; k < kCt; ++k) {
        sum[k][n][0] = fmaf(w[k], v.x, sum[k][n][0]);
        sum[k][n][1] = fmaf(w[k], v.y, sum[k][n][1]);
        sum[k][n][2] = fmaf(w[k], v.z, sum[k][n][2]);
        sum[k][n][3] = fmaf(w[k], v.w, sum[k][n][3]);
      }
    }
  }
}

// sum[i][...] += sum_c dS[row][c] K[c][...]: rows y + 16 i, columns 4 x + 64 n.
__device__ inline void add_to_queries(const float* shared, const Lane& at, float (&sum)[kRt][kDt][4]) {
  // @phase dQ
  const float* d_s = shared + kAt.d_s_at + at.y * kAt.s_stride;
  const float* k = shared + kAt.k_at + 4 * at.x;
#pragma unroll 1
  for (int c = 0; c < ATTN_BC; c += 4) {
    float w[kRt][4];
#pragma unroll
    for (int i = 0; i < kRt; ++i) read_neighbours(d_s + 16 * i * kAt.s_stride + c, w[i]);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int n = 0; n < kDt; ++n) {
        const float4 v = shared4(k + (c + e) * kAt.d_stride + 64 * n);
#pragma unroll
        for (int i = 0; i < kRt; ++i) {
          sum[i][n][0] = fmaf(w[i][e], v.x, sum[i][n][0]);
          sum[i][n][1] = fmaf(w[i][e], v.y, sum[i][n][1]);
          sum[i][n][2] = fmaf(w[i][e], v.z, sum[i][n][2]);
          sum[i][n][3] = fmaf(w[i][e], v.w, sum[i][n][3]);
        }
      }
    }
  }
}

// Four neighbours of a row, from column d on.
template <int WIDTH>
__device__ inline void store4(float* row, int d, const float (&x)[4], float factor) {
  if (ATTN_ALIGNED) {
    if (d < WIDTH)
      *reinterpret_cast<float4*>(row + d) = make_float4(x[0] * factor, x[1] * factor, x[2] * factor, x[3] * factor);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (d + e < WIDTH) row[d + e] = x[e] * factor;
    }
  }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_bwd_simt_rows(const Args a, const BackwardArgs g) {
  // @phase delta
  const int lane = threadIdx.x % 32;
  const int64 n = int64{blockIdx.x} * (ATTN_THREADS / 32) + threadIdx.x / 32;
  if (n >= a.B * a.Hq * g.rows) return;
  prepare_row(a, g, n, lane, kLog2E);
#if !ATTN_DETERMINISTIC
  // @phase dQ
  const int64 head = n / g.rows, r = n - head * g.rows;
  float* d_q = static_cast<float*>(g.d_q) + (head * a.Lq + r) * ATTN_D;
  if (r < a.Lq)
    for (int d = lane; d < ATTN_D; d += 32) d_q[d] = 0;
#endif
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) flash_bwd_simt_keys(const Args a, const BackwardArgs g) {
  extern __shared__ __align__(16) float shared[];
  // @phase setup
  const unsigned tiles = static_cast<unsigned>((a.Lk + ATTN_BC - 1) / ATTN_BC);
  const int64 kv = blockIdx.x / tiles, b = kv / a.Hkv, group = a.Hq / a.Hkv;
  const int64 first_head = b * a.Hq + (kv - b * a.Hkv) * group;
  const int64 c0 = int64{blockIdx.x % tiles} * ATTN_BC;
  const int64 length = key_length(a, first_head);
  const int64 c_end = c0 + ATTN_BC < length ? c0 + ATTN_BC : length;
  const Lane at = lane_here();

  float d_k[kCt][kDt][4] = {}, d_v[kCt][kDvt][4] = {};
  int64 i = 0, i_end = 0;  // query tiles that see some key of this one
  if (c0 < length) {
    i = first_row(a, c0) / ATTN_BR;
    const int64 last = last_row(a, length, c_end - 1);
    i_end = last > 0 ? (last + ATTN_BR - 1) / ATTN_BR : 0;
    copy_keys(a, shared, kv, c0, near(c_end - c0));
  }
  // @phase loop
  for (int64 head = first_head; head < first_head + group; ++head) {
    for (int64 tile = i; tile < i_end; ++tile) {
      const int64 r0 = tile * ATTN_BR;
      // @phase barrier
      __syncthreads();  // nobody reads the tile before any more
      copy_queries(a, g, shared, head, r0);
      // @phase barrier
      __syncthreads();
      weigh(a, shared, head, r0, c0, length, at);
      // @phase barrier
      __syncthreads();
      // @phase dV
      add_to_keys<kDvt, kAt.dv_stride>(shared + kAt.p_at, shared + kAt.d_o_at, at, d_v);
      // @phase dK
      add_to_keys<kDt, kAt.d_stride>(shared + kAt.d_s_at, shared + kAt.q_at, at, d_k);
#if !ATTN_DETERMINISTIC
      // @phase dQ
      float d_q[kRt][kDt][4] = {};
      add_to_queries(shared, at, d_q);
#pragma unroll
      for (int row = 0; row < kRt; ++row) {
        const int64 r = r0 + at.y + 16 * row;
        if (r >= a.Lq) continue;
        float* to = static_cast<float*>(g.d_q) + (head * a.Lq + r) * ATTN_D;
#pragma unroll
        for (int n = 0; n < kDt; ++n) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const int d = 4 * at.x + 64 * n + e;
            if (d < ATTN_D) atomicAdd(to + d, d_q[row][n][e] * a.scale);
          }
        }
      }
#endif
      // @phase loop
    }
  }
  // @phase store
#pragma unroll
  for (int k = 0; k < kCt; ++k) {
    const int64 c = c0 + at.y * kCt + k;
    if (c >= a.Lk) continue;
    float* to_k = static_cast<float*>(g.d_k) + (kv * a.Lk + c) * ATTN_D;
    float* to_v = static_cast<float*>(g.d_v) + (kv * a.Lk + c) * ATTN_DV;
#pragma unroll
    for (int n = 0; n < kDt; ++n) store4<ATTN_D>(to_k, 4 * at.x + 64 * n, d_k[k][n], a.scale);
#pragma unroll
    for (int n = 0; n < kDvt; ++n) store4<ATTN_DV>(to_v, 4 * at.x + 64 * n, d_v[k][n], 1.0f);
  }
}

#if ATTN_DETERMINISTIC
extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1)
    flash_bwd_simt_queries(const Args a, const BackwardArgs g) {
  extern __shared__ __align__(16) float shared[];
  // @phase setup
  const unsigned tiles = static_cast<unsigned>((a.Lq + ATTN_BR - 1) / ATTN_BR);
  const int64 head = blockIdx.x / tiles;
  // Under a causal mask later query tiles see more keys: the longest start first.
  const int64 r0 = int64{tiles - 1 - blockIdx.x % tiles} * ATTN_BR;
  const int64 r_last = (r0 + ATTN_BR < a.Lq ? r0 + ATTN_BR : a.Lq) - 1;
  const int64 length = key_length(a, head), kv = kv_head(a, head);
  const int64 last = last_key(a, length, r_last);
  const int64 j_end = last > 0 ? (last + ATTN_BC - 1) / ATTN_BC : 0;
  const Lane at = lane_here();
  copy_queries(a, g, shared, head, r0);
  // @phase dQ
  float d_q[kRt][kDt][4] = {};
  // @phase loop
  for (int64 j = first_key(a, r0) / ATTN_BC; j < j_end; ++j) {
    const int64 c0 = j * ATTN_BC;
    // @phase barrier
    __syncthreads();  // nobody reads the tile before any more
    copy_keys(a, shared, kv, c0, near(length - c0));
    // @phase barrier
    __syncthreads();
    weigh(a, shared, head, r0, c0, length, at);
    // @phase barrier
    __syncthreads();
    add_to_queries(shared, at, d_q);
    // @phase loop
  }
  // @phase store
#pragma unroll
  for (int row = 0; row < kRt; ++row) {
    const int64 r = r0 + at.y + 16 * row;
    if (r >= a.Lq) continue;
    float* to = static_cast<float*>(g.d_q) + (head * a.Lq + r) * ATTN_D;
#pragma unroll
    for (int n = 0; n < kDt; ++n) store4<ATTN_D>(to, 4 * at.x + 64 * n, d_q[row][n], a.scale);
  }
}
#endif

}  // namespace attn::gpu
