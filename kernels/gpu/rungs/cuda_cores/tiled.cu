// tiled: the same three passes as naive, with the products done well.
//
//   tiled_scores    S = scale Q K^T, masked       one block a Br x Bc tile of S
//   tiled_softmax   P = softmax(S)                one block a row
//   tiled_output    O = P V                       one block a Br x Bd tile of O
//
// The idea. A block copies 16 columns of its rows of both factors to shared memory and multiplies them; each thread
// keeps a tile of the result in registers (8 x 8 at 128 x 128 and 256 threads). Then 16 values read from shared memory
// serve 64 multiply-adds, and a value read from device memory serves Br or Bc of them.
//
// New against the rung before (naive): reuse, in shared memory and in registers. This is the fair baseline: what
// attention costs when its two products are as fast as CUDA cores make them, but S and P still live in memory.
//
// What limits it now. The multiply-adds of the products; then S and P, which are written and read as before: O(L^2)
// bytes of space and of traffic.
#include "kernels/gpu/device.cuh"
#include "kernels/gpu/trace.cuh"

namespace attn::gpu {

constexpr int kDepth = 16;                        // columns of the factors at once
constexpr int kStride = kDepth + 4;               // 20: the rows that 8 lanes read together lie in different banks
constexpr int kBd = ATTN_DV <= 64 ? 64 : 128;     // columns of O that one block makes
constexpr int kRt = 16 * ATTN_BR / ATTN_THREADS;  // rows of a thread: a warp has 2 x kRt rows, 16 lanes a row
constexpr int kCt = ATTN_BC / 16;                 // columns of a thread in S
constexpr int kDt = kBd / 64;                     // groups of 4 columns of a thread in O

struct Lane {
  int tx;   // 0..15: which columns
  int row;  // first of this thread's rows; the others follow at steps of 2
};
__device__ inline Lane lane_of() {
  const int lane = threadIdx.x % 32;
  return {lane % 16, static_cast<int>(threadIdx.x) / 32 * 2 * kRt + lane / 16};
}

// A ROWS x COLS piece of a row-major matrix on its way to shared memory: fetch() starts the loads, put() stores what
// came. Between the two the block computes, so the loads' latency is hidden. What lies outside is zero.
template <int ROWS, int COLS, int STRIDE>
struct Piece {
  static constexpr int kAcross = COLS / 4;
  static constexpr int kCount = (ROWS * kAcross + ATTN_THREADS - 1) / ATTN_THREADS;
  float4 held[kCount];

  __device__ void fetch(const Element* from, int64 width, int64 rows, int64 columns, bool aligned) {
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
      const int at = static_cast<int>(threadIdx.x) + n * ATTN_THREADS;
      const int row = at / kAcross, column = at % kAcross * 4;
      held[n] = row < ROWS && row < rows ? load4(from + row * width + column, columns - column, aligned)
                                         : make_float4(0, 0, 0, 0);
    }
  }
  __device__ void put(float* to) const {
#pragma unroll
    for (int n = 0; n < kCount; ++n) {
      const int at = static_cast<int>(threadIdx.x) + n * ATTN_THREADS;
      const int row = at / kAcross, column = at % kAcross * 4;
      if (row < ROWS) *reinterpret_cast<float4*>(to + row * STRIDE + column) = held[n];
    }
  }
};

// sums[i][j] += sum_d A[row i][d] B[column j][d] over the kDepth columns d in shared memory.
__device__ inline void multiply_rows(const float* a, const float* b, Lane at, float (&sums)[kRt][kCt]) {
  // @phase S
#pragma unroll 2
  for (int d = 0; d < kDepth; d += 4) {
    float4 y[kCt];
#pragma unroll
    for (int j = 0; j < kCt; ++j) y[j] = shared4(b + (at.tx + 16 * j) * kStride + d);
#pragma unroll
    for (int i = 0; i < kRt; ++i) {
      const float4 x = shared4(a + (at.row + 2 * i) * kStride + d);
#pragma unroll
      for (int j = 0; j < kCt; ++j) {
        sums[i][j] = fmaf(x.x, y[j].x, sums[i][j]);
        sums[i][j] = fmaf(x.y, y[j].y, sums[i][j]);
        sums[i][j] = fmaf(x.z, y[j].z, sums[i][j]);
        sums[i][j] = fmaf(x.w, y[j].w, sums[i][j]);
      }
    }
  }
}

// Which tile of a [heads, rows, columns] matrix this block makes.
struct Tile {
  int64 head, r0, c0;
};
__device__ inline Tile tile_of(int64 rows, int64 columns, int tile_columns) {
  const unsigned across = static_cast<unsigned>((columns + tile_columns - 1) / tile_columns);
  const unsigned down = static_cast<unsigned>((rows + ATTN_BR - 1) / ATTN_BR);
  const unsigned row_of_tiles = blockIdx.x / across;
  return {row_of_tiles / down, int64{row_of_tiles % down} * ATTN_BR, int64{blockIdx.x % across} * tile_columns};
}

// S_ij = scale Q_i K_j^T + bias; -inf where the mask hides the key. A tile that it hides whole is not computed.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) tiled_scores(const Args a) {
  __shared__ __align__(16) float q_tile[2][ATTN_BR * kStride];
  __shared__ __align__(16) float k_tile[2][ATTN_BC * kStride];
  // @phase setup
  const Tile t = tile_of(a.Lq, a.Lk, ATTN_BC);
  const int64 rows = a.Lq - t.r0 < ATTN_BR ? a.Lq - t.r0 : ATTN_BR;
  const int64 length = key_length(a, t.head);
  const Lane at = lane_of();
  float sums[kRt][kCt] = {};

  // @phase mask
  if (first_key(a, t.r0) < t.c0 + ATTN_BC && last_key(a, length, t.r0 + rows - 1) > t.c0) {
    // @phase setup
    const Element* q = static_cast<const Element*>(a.q) + (t.head * a.Lq + t.r0) * ATTN_D;
    const Element* k = static_cast<const Element*>(a.k) + (kv_head(a, t.head) * a.Lk + t.c0) * ATTN_D;
    Piece<ATTN_BR, kDepth, kStride> q_piece;
    Piece<ATTN_BC, kDepth, kStride> k_piece;
    // @phase Q
    q_piece.fetch(q, ATTN_D, rows, ATTN_D, ATTN_ALIGNED);
    // @phase K
    k_piece.fetch(k, ATTN_D, a.Lk - t.c0, ATTN_D, ATTN_ALIGNED);
    // @phase loop
    int now = 0;
    for (int d0 = 0; d0 < ATTN_D; d0 += kDepth, now ^= 1) {
      // @phase Q
      q_piece.put(q_tile[now]);
      // @phase K
      k_piece.put(k_tile[now]);
      // @phase barrier
      // One barrier a turn: the other buffer is written next, and every thread has read it before it came here.
      __syncthreads();
      // @phase loop
      if (d0 + kDepth < ATTN_D) {
        // @phase Q
        q_piece.fetch(q + d0 + kDepth, ATTN_D, rows, ATTN_D - d0 - kDepth, ATTN_ALIGNED);
        // @phase K
        k_piece.fetch(k + d0 + kDepth, ATTN_D, a.Lk - t.c0, ATTN_D - d0 - kDepth, ATTN_ALIGNED);
      }
      // @phase S
      multiply_rows(q_tile[now], k_tile[now], at, sums);
    }
  }

  // @phase store
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
    const int64 r = t.r0 + at.row + 2 * i;
    if (r >= a.Lq) continue;
    // @phase mask
    const int64 first = first_key(a, r), last = last_key(a, length, r);
    // @phase store
    float* s = a.s + (t.head * a.Lq + r) * a.Lk;
#pragma unroll
    for (int j = 0; j < kCt; ++j) {
      const int64 c = t.c0 + at.tx + 16 * j;
      if (c >= a.Lk) continue;
      s[c] = c >= first && c < last ? with_bias(a, t.head, r, c, sums[i][j] * a.scale, 1.0f) : minus_infinity();
      ATTN_TRACE(trace_score(a, t.head * a.Lq + r, c, s[c]));
    }
  }
}

// The maximum, or the sum, of x over the block, in every thread. `scratch` holds one float a warp.
template <bool MAX>
__device__ inline float over_block(float x, float* scratch) {
  constexpr int kWarps = ATTN_THREADS / 32;
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, x, lane);
    x = MAX ? fmaxf(x, other) : x + other;
  }
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  // @phase barrier
  __syncthreads();
  // @phase caller
  float all = scratch[0];
#pragma unroll
  for (int warp = 1; warp < kWarps; ++warp) all = MAX ? fmaxf(all, scratch[warp]) : all + scratch[warp];
  return all;
}

// P = exp(S - m) / l. m and l are taken in one walk: where a larger score comes, the sum so far is rescaled. S is
// read twice; the second time a row of this length is still in the cache.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) tiled_softmax(const Args a) {
  __shared__ float maxima[ATTN_THREADS / 32], totals[ATTN_THREADS / 32];
  // @phase setup
  const int64 row = blockIdx.x;
  const float* s = a.s + row * a.Lk;
  Element* p = static_cast<Element*>(a.p) + row * a.Lk;

  // @phase loop
  float m = minus_infinity(), l = 0;
  for (int64 c = threadIdx.x; c < a.Lk; c += ATTN_THREADS) {
    // @phase S
    const float x = s[c];
    // @phase m
    const float larger = fmaxf(m, x);
    // Nothing of weight yet: both differences would be -inf - -inf.
    const float shift = larger == minus_infinity() ? 0.0f : larger;
    // @phase l
    l = l * (m == larger ? 1.0f : expf(m - shift)) + expf(x - shift);
    // @phase m
    m = larger;
  }
  const float row_max = over_block<true>(m, maxima);
  const float shift = row_max == minus_infinity() ? 0.0f : row_max;
  // @phase l
  const float sum = over_block<false>(l * expf(m - shift), totals);

  // @phase P
  for (int64 c = threadIdx.x; c < a.Lk; c += ATTN_THREADS) p[c] = narrow(sum == 0.0f ? 0.0f : expf(s[c] - shift) / sum);
  // @phase store
  if (threadIdx.x == 0) a.lse[row] = sum == 0.0f ? minus_infinity() : row_max + logf(sum);
  ATTN_TRACE(trace_weights(a, row, threadIdx.x, ATTN_THREADS, p));
  ATTN_TRACE(trace_softmax(a, row, row_max, sum));
}

// O_i = P_i V, 16 keys at a time.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) tiled_output(const Args a) {
  __shared__ __align__(16) float p_tile[2][ATTN_BR * kStride];
  __shared__ __align__(16) float v_tile[2][kDepth * kBd];
  // @phase setup
  const Tile t = tile_of(a.Lq, ATTN_DV, kBd);
  const Element* p = static_cast<const Element*>(a.p) + (t.head * a.Lq + t.r0) * a.Lk;
  const Element* v = static_cast<const Element*>(a.v) + kv_head(a, t.head) * a.Lk * ATTN_DV + t.c0;
  const bool p_aligned = a.Lk % 4 == 0;
  const Lane at = lane_of();
  float sums[kRt][kDt][4] = {};

  Piece<ATTN_BR, kDepth, kStride> p_piece;
  Piece<kDepth, kBd, kBd> v_piece;
  // @phase P
  p_piece.fetch(p, a.Lk, a.Lq - t.r0, a.Lk, p_aligned);
  // @phase V
  v_piece.fetch(v, ATTN_DV, a.Lk, ATTN_DV - t.c0, ATTN_ALIGNED);
  // @phase loop
  int now = 0;
  for (int64 c0 = 0; c0 < a.Lk; c0 += kDepth, now ^= 1) {
    // @phase P
    p_piece.put(p_tile[now]);
    // @phase V
    v_piece.put(v_tile[now]);
    // @phase barrier
    __syncthreads();
    // @phase loop
    if (c0 + kDepth < a.Lk) {
      // @phase P
      p_piece.fetch(p + c0 + kDepth, a.Lk, a.Lq - t.r0, a.Lk - c0 - kDepth, p_aligned);
      // @phase V
      v_piece.fetch(v + (c0 + kDepth) * ATTN_DV, ATTN_DV, a.Lk - c0 - kDepth, ATTN_DV - t.c0, ATTN_ALIGNED);
    }
    // @phase O
#pragma unroll
    for (int c = 0; c < kDepth; ++c) {
      float4 y[kDt];
#pragma unroll
      for (int n = 0; n < kDt; ++n) y[n] = shared4(v_tile[now] + c * kBd + at.tx * 4 + 64 * n);
#pragma unroll
      for (int i = 0; i < kRt; ++i) {
        // The compiler joins four of these into one 128-bit load.
        const float x = p_tile[now][(at.row + 2 * i) * kStride + c];
#pragma unroll
        for (int n = 0; n < kDt; ++n) {
          sums[i][n][0] = fmaf(x, y[n].x, sums[i][n][0]);
          sums[i][n][1] = fmaf(x, y[n].y, sums[i][n][1]);
          sums[i][n][2] = fmaf(x, y[n].z, sums[i][n][2]);
          sums[i][n][3] = fmaf(x, y[n].w, sums[i][n][3]);
        }
      }
    }
  }

  // @phase store
#pragma unroll
  for (int i = 0; i < kRt; ++i) {
    const int64 r = t.r0 + at.row + 2 * i;
    if (r >= a.Lq) continue;
    Element* o = static_cast<Element*>(a.out) + (t.head * a.Lq + r) * ATTN_DV;
#pragma unroll
    for (int n = 0; n < kDt; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int64 d = t.c0 + at.tx * 4 + 64 * n + e;
        if (d < ATTN_DV) o[d] = narrow(sums[i][n][e]);
        ATTN_TRACE(trace_result(a, t.head * a.Lq + r, d, sums[i][n][e]));
      }
    }
  }
}

}  // namespace attn::gpu
