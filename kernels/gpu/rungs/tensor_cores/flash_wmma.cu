// flash_wmma: FlashAttention-2 on tensor cores, through the WMMA interface of CUDA C++. f16 or bf16 in, sums in fp32.
//
//   for each query tile i (one block):                      Q_i to shared memory; m = -inf, l = 0, O = 0
//     for each key tile j that the mask does not hide:      K_j, V_j to shared memory
//       S = Q_i K_j^T                                       fragments, stored to shared memory
//       m_new = max(m, rowmax scale S);  alpha = exp(m - m_new)
//       P = exp(scale S - m_new);  l = alpha l + rowsum P   one or two lanes a row, P over S
//       O = alpha O + P V_j                                 fragments
//     O = O / l;  LSE = m + ln l
//
// The idea. A tensor core multiplies two 16 x 16 matrices of 16-bit numbers and adds them to one of fp32 in a few
// clocks. A warp holds the three matrices as fragments, spread over its lanes; load, multiply and store are one call
// each, and a warp's whole work on two products is a handful of such calls.
//
// New against the rung before (flash_simt): the products are 16 x 16 x 16 at once, an order of magnitude faster than
// the CUDA cores; everything else is the same algorithm.
//
// What limits it now. WMMA does not say which lane holds which element of a fragment. The softmax goes by rows, so S
// has to go through shared memory to become rows, and P back again to become fragments: 4 + 4 + 2 + 2 bytes for every
// score, as much traffic as the products' own operands, with the tensor cores waiting for it. One thing can be had
// without: a fragment loaded with a row distance of 0 holds alpha in each element of its row, and multiplies O where it
// is. Copies and products take turns as well; another block of the multiprocessor fills the gaps. The next rung opens
// the fragments.
#include <mma.h>

#include "kernels/gpu/device.cuh"
#include "kernels/gpu/flash_wmma_layout.h"
#include "kernels/gpu/mma.cuh"
#include "kernels/gpu/tile_copy.cuh"
#include "kernels/gpu/trace.cuh"

namespace attn::gpu {

namespace wmma = nvcuda::wmma;

#if ATTN_DTYPE == 1
using Half = __half;
#else
using Half = __nv_bfloat16;
#endif
using FragmentA = wmma::fragment<wmma::matrix_a, 16, 16, 16, Half, wmma::row_major>;
using FragmentK = wmma::fragment<wmma::matrix_b, 16, 16, 16, Half, wmma::col_major>;  // K transposed
using FragmentV = wmma::fragment<wmma::matrix_b, 16, 16, 16, Half, wmma::row_major>;
using FragmentC = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

constexpr FlashWmmaLayout kAt = flash_wmma_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC, ATTN_THREADS);
constexpr int kMt = kAt.row_tiles;          // tiles of 16 rows a warp
constexpr int kDt = kAt.d / 16;             // steps of 16 along D
constexpr int kCt = ATTN_BC / 16;           // tiles of 16 keys
constexpr int kOt = kAt.dv / 16;            // tiles of 16 columns of O
constexpr int kRows = 16 * kMt;             // rows of a warp
constexpr int kLanes = 32 / kRows;          // lanes that share a row in the softmax: 1 or 2
constexpr int kColumns = ATTN_BC / kLanes;  // scores of a lane

// What a lane knows of its row.
struct Row {
  int64 r;            // in the problem
  float* s;           // its scores in shared memory, from the lane's first on
  const float* bias;  // at key 0
  int64 head;         // @score
  float slope;        // @score of ALiBi, in base 2
  int column;         // the tile's column that s[0] is
  float m, l, alpha;  // l is this lane's share until the end
};

// A tile of ROWS x COLUMNS; `rows` of them exist.
template <int ROWS, int COLUMNS, int STRIDE>
__device__ inline void copy_tile(void* to, const Element* from, int64 rows) {
  using Copy = TileCopy<ROWS, COLUMNS, (COLUMNS + 15) / 16 * 2, Padded<STRIDE / 8>>;
  Copy::copy(shared_address(to) + Copy::first_to(), from + Copy::first_from(), near(rows));
}

// S = Q_i K_j^T for the rows of a warp, left in shared memory.
__device__ inline void add_scores(const Half* q, const Half* k, float* s) {
  // @phase S
  FragmentC c[kMt][kCt];
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < kCt; ++n) wmma::fill_fragment(c[i][n], 0.0f);
  }
#pragma unroll
  for (int d = 0; d < kDt; ++d) {
    FragmentA x[kMt];
#pragma unroll
    for (int i = 0; i < kMt; ++i) wmma::load_matrix_sync(x[i], q + 16 * i * kAt.q_stride + 16 * d, kAt.q_stride);
#pragma unroll
    for (int n = 0; n < kCt; ++n) {
      FragmentK y;
      wmma::load_matrix_sync(y, k + 16 * n * kAt.q_stride + 16 * d, kAt.q_stride);
#pragma unroll
      for (int i = 0; i < kMt; ++i) wmma::mma_sync(c[i][n], x[i], y, c[i][n]);
    }
  }
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < kCt; ++n) {
      wmma::store_matrix_sync(s + 16 * i * kAt.s_stride + 16 * n, c[i][n], kAt.s_stride, wmma::mem_row_major);
    }
  }
}

__device__ inline float max_of_row(float x) {
  return kLanes == 1 ? x : fmaxf(x, __shfl_xor_sync(0xffffffffu, x, kRows));
}
__device__ inline float sum_of_row(float x) {
  return kLanes == 1 ? x : x + __shfl_xor_sync(0xffffffffu, x, kRows);
}

// The lane's scores in base 2; -inf where the mask, the bias or the end hides a key.
__device__ inline void read_scores(const Args& a, int64 c0, int64 length, bool whole, const Row& row,
                                   float (&x)[kColumns]) {
  // @phase S
#pragma unroll
  for (int c = 0; c < kColumns; c += 4) {
    const float4 four = shared4(row.s + c);
    x[c] = four.x * a.scale_log2;
    x[c + 1] = four.y * a.scale_log2;
    x[c + 2] = four.z * a.scale_log2;
    x[c + 3] = four.w * a.scale_log2;
  }
  ATTN_TRACE(trace_row_products<kColumns>(kTrace.s, row.r, row.column, row.s));
  // @phase mask
  if (whole && !ATTN_BIAS) return;
  const int first = near(first_key(a, row.r) - c0) - row.column;
  const int last = row.r < a.Lq ? near(last_key(a, length, row.r) - c0) - row.column : 0;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    bool seen = c >= first && c < last;
    if (seen) x[c] = shaped_score(a, row.head, row.slope, row.r, c0 + row.column + c, x[c], kLog2E);  // @score
    if (!seen) x[c] = minus_infinity();                                                               // @score
    if (ATTN_BIAS) continue;                                                                          // @score
    float bias = 0;
    if (ATTN_BIAS && seen) {
      bias = row.bias[(c0 + row.column + c) * a.bias_c] * kLog2E;
      seen = bias != minus_infinity();  // it hides the key, whatever its score is
    }
    x[c] = !seen ? minus_infinity() : ATTN_BIAS ? x[c] + bias : x[c];
  }
}

// The online softmax of a row: m, l, alpha, and P over S.
__device__ inline void softmax_step(float (&x)[kColumns], Row& row) {
  // @phase m
  float larger = row.m;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) larger = fmaxf(larger, x[c]);
  larger = max_of_row(larger);
  // No key of weight yet: -inf - -inf would be NaN.
  const float shift = larger == minus_infinity() ? 0.0f : larger;
  // @phase alpha
  row.alpha = row.m == larger ? 1.0f : exp2_fast(row.m - shift);
  // @phase m
  row.m = larger;
  // @phase P
  float sum = 0;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    x[c] = exp2_fast(x[c] - shift);
    // @phase l
    sum += x[c];
  }
  row.l = row.l * row.alpha + sum;
}

// P of the lane, rounded to the input's type, over the row's scores from its beginning.
__device__ inline void write_weights(const float (&x)[kColumns], const Row& row) {
  // @phase P
  Element* p = reinterpret_cast<Element*>(row.s - row.column) + row.column;
#pragma unroll
  for (int c = 0; c < kColumns; c += 4) {
    *reinterpret_cast<uint2*>(p + c) = make_uint2(pack(x[c], x[c + 1]), pack(x[c + 2], x[c + 3]));
  }
}

// Each element of O's row times `factor` of the lane that has the row: a fragment whose rows lie 0 apart.
__device__ inline void scale_rows(float* factors, const Row& row, float factor, FragmentC (&o)[kMt][kOt]) {
  const int lane = threadIdx.x % 32;
  __syncwarp();
  if (lane < kRows) factors[lane] = factor;
  __syncwarp();
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
    FragmentC f;
    wmma::load_matrix_sync(f, factors + 16 * i, 0, wmma::mem_col_major);
#pragma unroll
    for (int n = 0; n < kOt; ++n) {
#pragma unroll
      for (int e = 0; e < f.num_elements; ++e) o[i][n].x[e] *= f.x[e];
    }
  }
  __syncwarp();
}

// O = alpha O + P V_j; P lies over S, its rows twice as many elements apart.
__device__ inline void add_output(const Half* p, const Half* v, FragmentC (&o)[kMt][kOt]) {
  // @phase O
#pragma unroll
  for (int c = 0; c < kCt; ++c) {
    FragmentA x[kMt];
#pragma unroll
    for (int i = 0; i < kMt; ++i) wmma::load_matrix_sync(x[i], p + 32 * i * kAt.s_stride + 16 * c, 2 * kAt.s_stride);
#pragma unroll
    for (int n = 0; n < kOt; ++n) {
      FragmentV y;
      wmma::load_matrix_sync(y, v + 16 * c * kAt.v_stride + 16 * n, kAt.v_stride);
#pragma unroll
      for (int i = 0; i < kMt; ++i) wmma::mma_sync(o[i][n], x[i], y, o[i][n]);
    }
  }
}

// O of a warp, 16 columns at a time over its part of S, rounded on the way out.
__device__ inline void store(const Args& a, int64 row0, int rows, float* s, const FragmentC (&o)[kMt][kOt]) {
  // @phase store
  Element* out = static_cast<Element*>(a.out) + row0 * ATTN_DV;
#pragma unroll
  for (int n = 0; n < kOt; ++n) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kMt; ++i) {
      wmma::store_matrix_sync(s + 16 * i * kAt.s_stride, o[i][n], kAt.s_stride, wmma::mem_row_major);
    }
    __syncwarp();
#pragma unroll 4
    for (int at = threadIdx.x % 32; at < kRows * 16; at += 32) {
      const int row = at / 16, d = 16 * n + at % 16;
      if (row < rows && d < ATTN_DV) out[row * ATTN_DV + d] = narrow(s[row * kAt.s_stride + at % 16]);
    }
  }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_wmma(const Args a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const unsigned tiles = static_cast<unsigned>((a.Lq + ATTN_BR - 1) / ATTN_BR);
  const int64 head = blockIdx.x / tiles;
  // Under a causal mask later query tiles see more keys: the longest start first.
  const int64 r0 = int64{tiles - 1 - blockIdx.x % tiles} * ATTN_BR;
  const int64 r_last = (r0 + ATTN_BR < a.Lq ? r0 + ATTN_BR : a.Lq) - 1;
  const int64 length = key_length(a, head);
  const Element* q = static_cast<const Element*>(a.q) + (head * a.Lq + r0) * ATTN_D;
  const Element* k = static_cast<const Element*>(a.k) + kv_head(a, head) * a.Lk * ATTN_D;
  const Element* v = static_cast<const Element*>(a.v) + kv_head(a, head) * a.Lk * ATTN_DV;

  // This warp's rows and this lane's row.
  const int lane = threadIdx.x % 32, warp_row = static_cast<int>(threadIdx.x) / 32 * kRows;
  const Half* warp_q = reinterpret_cast<const Half*>(shared) + warp_row * kAt.q_stride;
  float* warp_s = reinterpret_cast<float*>(shared + kAt.s_at) + warp_row * kAt.s_stride;
  float* factors = reinterpret_cast<float*>(shared + kAt.factors_at) + warp_row;
  Row row;
  row.r = r0 + warp_row + lane % kRows;
  row.column = lane / kRows * kColumns;
  row.s = warp_s + lane % kRows * kAt.s_stride + row.column;
#if ATTN_BIAS
  const int64 batch = head / a.Hq;
  row.bias = a.bias + batch * a.bias_b + (head - batch * a.Hq) * a.bias_h + row.r * a.bias_r;
#endif
  row.head = head;                        // @score
  row.slope = slope_of(a, head, kLog2E);  // @score
  row.m = minus_infinity();
  row.l = 0;
  FragmentC o[kMt][kOt];
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < kOt; ++n) wmma::fill_fragment(o[i][n], 0.0f);
  }

  // Key tiles [j, j_end) that some row of this query tile sees.
  const int64 last = last_key(a, length, r_last);
  const int64 j_end = last > 0 ? (last + ATTN_BC - 1) / ATTN_BC : 0;
  int64 j = first_key(a, r0) / ATTN_BC;
  // @phase Q
  if (j < j_end) copy_tile<ATTN_BR, ATTN_D, kAt.q_stride>(shared, q, a.Lq - r0);
    // @phase loop
#pragma unroll 1
  for (; j < j_end; ++j) {
    const int64 c0 = j * ATTN_BC;
    // @phase barrier
    __syncthreads();  // nobody reads the tiles before any more
    // @phase K
    copy_tile<ATTN_BC, ATTN_D, kAt.q_stride>(shared + kAt.k_at, k + c0 * ATTN_D, a.Lk - c0);
    // @phase V
    copy_tile<ATTN_BC, ATTN_DV, kAt.v_stride>(shared + kAt.v_at, v + c0 * ATTN_DV, a.Lk - c0);
    // @phase barrier
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
    // @phase S
    add_scores(warp_q, reinterpret_cast<const Half*>(shared + kAt.k_at), warp_s);
    // @phase barrier
    __syncwarp();
    // @phase mask
    // Whole tiles inside every row's range need no mask.
    const bool whole = c0 >= first_key(a, r_last) && c0 + ATTN_BC <= last_key(a, length, r0);
    // @phase S
    float x[kColumns];
    ATTN_TRACE(trace_begin(a, head, r0, j));
    read_scores(a, c0, length, whole, row, x);
    ATTN_TRACE(trace_row_scores(kTrace.masked, row.r, row.column, x));
    // @phase m
    softmax_step(x, row);
    ATTN_TRACE(trace_row_scores(kTrace.p, row.r, row.column, x));
    ATTN_TRACE(trace_row_numbers(row.r, lane / kRows, row.m, row.alpha, row.l));
    // @phase barrier
    __syncwarp();  // all lanes have read S before the first writes P
    // @phase P
    write_weights(x, row);
    // @phase O
    if (__any_sync(0xffffffffu, row.alpha != 1.0f)) scale_rows(factors, row, row.alpha, o);
    // @phase barrier
    __syncwarp();
    // @phase O
    add_output(reinterpret_cast<const Half*>(warp_s), reinterpret_cast<const Half*>(shared + kAt.v_at), o);
    ATTN_TRACE(trace_fragments(trace_tile(kTrace.o), warp_row, o, wmma::mem_row_major));
  }

  // @phase l
  // O / l and LSE. A row that saw no key of weight: 0 and -inf.
  const float sum = sum_of_row(row.l);
  // @phase normalise
  const bool none = sum == 0.0f;
  scale_rows(factors, row, none ? 0.0f : 1.0f / sum, o);
  ATTN_TRACE(trace_fragments(trace_row(a, head, r0, kTrace.row_o), warp_row, o, wmma::mem_row_major));
  // @phase store
  const int64 left = a.Lq - r0 - warp_row;
  store(a, head * a.Lq + r0 + warp_row, left < kRows ? static_cast<int>(left) : kRows, warp_s, o);
  if (lane < kRows && row.r < a.Lq) {
    a.lse[head * a.Lq + row.r] = none ? minus_infinity() : (row.m + log2f(sum)) * kLn2;
  }
}

}  // namespace attn::gpu
