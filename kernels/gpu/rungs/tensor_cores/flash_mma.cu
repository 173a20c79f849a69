// flash_mma: FlashAttention-2 on tensor cores, by the instructions themselves. f16 or bf16 in, sums in fp32.
//
//   for each query tile i (one block):                      Q_i to shared memory; m = -inf, l = 0, O = 0
//     for each key tile j that the mask does not hide:
//       S = Q_i K_j^T, masked                               in registers
//       if some row's maximum rose by more than 2^8:        rarely after the first tile
//         m_new = max(m, rowmax S);  alpha = exp(m - m_new);  l = alpha l;  O = alpha O
//       P = exp(scale S - m);  l = l + rowsum P             in registers
//       O = O + P V_j
//     O = O / l;  LSE = m + ln l
//
// The idea. mma.sync says which lane holds which element. Two 16 x 8 tiles of S, side by side, lie in the lanes just as
// the 16 x 16 factor P of the next product has to (mma_layout.h), so S becomes P where it is: no shared memory, no
// barrier, and the row maximum is two shuffles.
//
// New against the rung before (flash_wmma). S and P stay in registers. ldmatrix reads four 8 x 8 matrices at once, V's
// transposed; the chunks of a row are swizzled, so that no two lanes ask the same bank. K and V tiles come through a
// ring of `stages` buffers by cp.async: while one is multiplied the next is on its way, one barrier a tile. Exponentials
// stand between the products that they do not wait for. m need not be the maximum, only near it: P stays below 2^8,
// which f16 holds as precisely as 1, and the division by l at the end takes it out; so O is hardly ever multiplied by
// alpha (FlashAttention-4 has this too). A warp has 32 rows where registers allow: every fragment of K and V it reads
// serves two products of 16 rows.
//
// What limits it now. An mma.sync of 16 x 8 x 16 takes 6 clocks of its quarter of the multiprocessor, and what else the
// warps do on the arithmetic units is not done beside it: on an H100 an FFMA adds 1 clock, an FMNMX or a conversion 1.1,
// an exponential 3, an integer addition 0.4, while ldmatrix is nearly free. So the tensor cores are busy for two
// thirds of the time, and their rate by mma.sync is itself two thirds of what Hopper's wgmma reaches. That is the next
// rung.
#include "kernels/gpu/flash_mma_layout.h"
#include "kernels/gpu/flash_tile.cuh"  // before device.cuh
#include "kernels/gpu/mma.cuh"
#include "kernels/gpu/stamps.cuh"
#include "kernels/gpu/tile_copy.cuh"
#include "kernels/gpu/trace.cuh"

namespace attn::gpu {

constexpr FlashMmaLayout kAt = flash_mma_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC, ATTN_THREADS, ATTN_STAGES);
constexpr int kMt = kAt.row_tiles;  // tiles of 16 rows a warp
constexpr int kDt = kAt.d / 16;     // steps of 16 along D
constexpr int kCt = ATTN_BC / 16;   // steps of 16 keys
constexpr int kOt = kAt.dv / 16;    // steps of 16 along Dv
constexpr int kWarpRows = 16 * kMt;
constexpr int kQWidth = kAt.d / 8, kVWidth = kAt.dv / 8;  // chunks of a row

using Scores = float[kMt][2 * kCt][4];  // S: fragments of 16 x 8
using Weights = unsigned[kMt][4];       // P of one step of 16 keys: fragments of 16 x 16
using WarpRows = Rows<kMt, 2 * kOt>;
using CopyQ = TileCopy<ATTN_BR, ATTN_D, kQWidth, Swizzled<kQWidth>>;
using CopyK = TileCopy<ATTN_BC, ATTN_D, kQWidth, Swizzled<kQWidth>>;
using CopyV = TileCopy<ATTN_BC, ATTN_DV, kVWidth, Swizzled<kVWidth>>;

// Where this lane is and reads.
struct Lane {
  int row, column;  // of the query tile and of each 8 columns of a fragment: its first
  unsigned k, v;    // its place in the first piece of the ring's first K and V tile
  unsigned q;       // in that of the warp's rows of Q

  __device__ inline Lane(int warp_row, unsigned tile_q, unsigned ring) {
    const int lane = threadIdx.x % 32;
    row = warp_row + lane / 4;
    column = lane % 4 * 2;
    k = kept(ring + Pieces<kQWidth>::lane(ldmatrix_row_of_k(lane), ldmatrix_chunk_of_k(lane)));
    v = kept(ring + kAt.k_bytes + Pieces<kVWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane)));
    const unsigned rows_q = tile_q + kChunk * kQWidth * warp_row;
    if constexpr (kQWidth == kVWidth) {
      q = v + uniform(static_cast<int>(rows_q - ring - kAt.k_bytes));  // no register of its own
    } else {
      q = kept(rows_q + Pieces<kQWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane)));
    }
  }
};

// Q's fragments, if they are kept.
constexpr int kStepsKept = kAt.q_in_registers ? kDt : 1;
struct Query {
  unsigned x[kStepsKept][kMt][4];
};

__device__ inline void read_query(const Pieces<kQWidth>& from, int step, unsigned (&x)[kMt][4]) {
#pragma unroll
  for (int i = 0; i < kMt; ++i) ldmatrix(x[i], from.at(16 * i, step));
}

// ---- the two products. Both call `between` with 0, 1, 2 ... after each group of 2 kMt products.

// S = Q_i K_j^T
template <class Between>
__device__ inline void add_scores(const Lane& at, const Query& query, unsigned stage, Scores& s, Between between) {
  // @phase S
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kCt; ++n) s[i][n][0] = s[i][n][1] = s[i][n][2] = s[i][n][3] = 0;
  }
  const Pieces<kQWidth> q_at(at.q), k_at(at.k + stage);
  unsigned x[2][kMt][4], y[2][4];  // this step's and the next's
  const auto& read = x;
  if constexpr (!kAt.q_in_registers) read_query(q_at, 0, x[0]);
  ldmatrix(y[0], k_at.at(0, 0));
#pragma unroll
  for (int d = 0; d < kDt; ++d) {
#pragma unroll
    for (int c = 0; c < kCt; ++c) {
      const int n = d * kCt + c, next = n + 1;
      if (next < kDt * kCt) ldmatrix(y[next % 2], k_at.at(next % kCt * 16, next / kCt));
      if constexpr (!kAt.q_in_registers) {
        if (c == kCt - 1 && d + 1 < kDt) read_query(q_at, d + 1, x[(d + 1) % 2]);
      }
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        const unsigned(&q)[4] = kAt.q_in_registers ? query.x[d % kStepsKept][i] : read[d % 2][i];
        mma(s[i][2 * c], q, y[n % 2][0], y[n % 2][1]);
        mma(s[i][2 * c + 1], q, y[n % 2][2], y[n % 2][3]);
      }
      between(n);
    }
  }
}

// O += P V_j. P of step c lies in p[c % 2]; `between` makes it a step ahead.
template <class Between>
__device__ inline void add_output(const Lane& at, unsigned stage, const Weights (&p)[2], WarpRows& rows,
                                  Between between) {
  // @phase O
  const Pieces<kVWidth> v_at(at.v + stage);
  unsigned y[2][4];
  ldmatrix_transposed(y[0], v_at.at(0, 0));
#pragma unroll
  for (int c = 0; c < kCt; ++c) {
#pragma unroll
    for (int d = 0; d < kOt; ++d) {
      const int n = c * kOt + d, next = n + 1;
      if (next < kCt * kOt) ldmatrix_transposed(y[next % 2], v_at.at(next / kOt * 16, next % kOt));
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        mma(rows.o[i][2 * d], p[c % 2][i], y[n % 2][0], y[n % 2][1]);
        mma(rows.o[i][2 * d + 1], p[c % 2][i], y[n % 2][2], y[n % 2][3]);
      }
      between(n);
    }
  }
}

// ---- S becomes P

constexpr int kPairs = 4 * kMt;  // pairs of neighbours in P of one step of 16 keys

// The n-th pair of step c; l takes it before it is rounded.
__device__ inline void weigh(const Scores& s, int c, int n, float scale, WarpRows& rows, Weights (&p)[2]) {
  // @phase P
  const int i = n / 4, half = n / 2 % 2, h = n % 2;
  const float(&pair)[4] = s[i][2 * c + half];
  const float x = exp2_here(fmaf(pair[2 * h], scale, -rows.m[i][h]));
  const float y = exp2_here(fmaf(pair[2 * h + 1], scale, -rows.m[i][h]));
  ATTN_TRACE(trace_fragment_weights(i, 2 * c + half, h, x, y));
  // @phase l
  rows.l[i][h] += x;
  rows.l[i][h] += y;
  // @phase P
  p[c % 2][i][2 * half + h] = pack(x, y);
}

// P of a key tile and O += P V_j, the exponentials of a step between the products of the one before.
__device__ inline void weigh_and_add(const Lane& at, unsigned stage, const Scores& s, float scale, WarpRows& rows) {
  // @phase P
  Weights p[2];
#pragma unroll
  for (int n = 0; n < kPairs; ++n) weigh(s, 0, n, scale, rows, p);
  // @phase O
  add_output(at, stage, p, rows, [&](int done) {
    const int c = done / kOt + 1, d = done % kOt;
    if (c == kCt) return;
#pragma unroll
    for (int n = d * kPairs / kOt; n < (d + 1) * kPairs / kOt; ++n) weigh(s, c, n, scale, rows, p);
  });
}

// ---- the way out

// O / l and LSE. A row that saw no key of weight: 0 and -inf. O goes through shared memory, a warp's own rows, to leave
// in whole chunks.
__device__ inline void store(const Args& a, const QueryTile& query, const Lane& at, const WarpRows& rows,
                             unsigned char* shared) {
  // @phase store
  const int64 row0 = query.head * a.Lq + query.r0;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int row = at.row + 16 * i + 8 * h;
      // @phase l
      const float sum = sum_of_row(rows.l[i][h]);
      // @phase normalise
      const bool none = sum == 0.0f;
      const float inverse = 1.0f / sum;
#pragma unroll
      for (int n = 0; n < 2 * kOt; ++n) {
        const float x = none ? 0.0f : rows.o[i][n][2 * h] * inverse;
        const float y = none ? 0.0f : rows.o[i][n][2 * h + 1] * inverse;
        ATTN_TRACE(trace_normalised_pair(a, query.head, query.r0, row, 8 * n + at.column, x, y));
        // @phase store
        *reinterpret_cast<unsigned*>(shared + Swizzled<kVWidth>::at(row, n) + 2 * at.column) = pack(x, y);
      }
      if (at.column == 0 && row < query.rows) {
        a.lse[row0 + row] = none ? minus_infinity() : (rows.m[i][h] + log2f(sum)) * kLn2;
      }
    }
  }
  __syncwarp();
  Element* out = static_cast<Element*>(a.out) + row0 * ATTN_DV;
  constexpr bool kWhole = ATTN_ALIGNED && ATTN_DV % kPerChunk == 0;
  constexpr int kAcross = kWhole ? ATTN_DV / kPerChunk : ATTN_DV;
#pragma unroll 4
  for (int n = threadIdx.x % 32; n < kWarpRows * kAcross; n += 32) {
    const int row = at.row / kWarpRows * kWarpRows + n / kAcross, across = n % kAcross;
    if (row >= query.rows) continue;
    if constexpr (kWhole) {
      *reinterpret_cast<uint4*>(out + row * ATTN_DV + across * kPerChunk) =
          *reinterpret_cast<const uint4*>(shared + Swizzled<kVWidth>::at(row, across));
    } else {
      const unsigned char* chunk = shared + Swizzled<kVWidth>::at(row, across / kPerChunk);
      out[row * ATTN_DV + across] = reinterpret_cast<const Element*>(chunk)[across % kPerChunk];
    }
  }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, kAt.blocks) flash_mma(const Args a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const unsigned base = shared_address(shared);
  const QueryTile tile(a);
  ATTN_STAMP(Stamps stamps(threadIdx.x / 32, threadIdx.x % 32 == 0));
  ATTN_STAMP(stamps.tile(blockIdx.x));
  const int warp_row = uniform(static_cast<int>(threadIdx.x) / 32 * kWarpRows);
  const Lane at(warp_row, base, base + kAt.stages_at);
  Bias bias(a, tile, at.row, at.column);
  Feed<CopyK, CopyV> feed(a, tile, base + kAt.stages_at, kAt.k_bytes);
  float scale = scale_of_scores(a);
  WarpRows rows;
  Query query;

  if (tile.j < tile.j_end) {
    // @phase Q
    const Element* q = static_cast<const Element*>(a.q) + (tile.head * a.Lq + tile.r0) * ATTN_D;
    ATTN_STAMP(stamps.single<kStampAskQ>(-1, -1));
    CopyQ::copy(base + CopyQ::first_to(), q + CopyQ::first_from(), tile.rows);
    commit_copies();
    // @phase loop
#pragma unroll
    for (int n = 0; n < ATTN_STAGES - 1; ++n) {
      feed.fetch(n * kAt.stage_bytes);
      feed.next();
      commit_copies();
    }
    // @phase barrier
    ATTN_STAMP(stamps.single<kStampWaitQ>(-1, -1));
    wait_for_copies<ATTN_STAGES - 1>();
    __syncthreads();
    // @phase setup
    scale = with_positive_scale(scale, reinterpret_cast<Element*>(shared), ATTN_BR * kAt.d);
    // @phase Q
    if constexpr (kAt.q_in_registers) {
#pragma unroll
      for (int d = 0; d < kDt; ++d) read_query(Pieces<kQWidth>(at.q), d, query.x[d]);
    }
  }

  // @phase loop
  unsigned stage = 0;  // of tile j in the ring
#pragma unroll 1
  for (int j = tile.j; j < tile.j_end; ++j) {
    constexpr unsigned kRing = ATTN_STAGES * kAt.stage_bytes;
    const unsigned before = stage == 0 ? kRing - kAt.stage_bytes : stage - kAt.stage_bytes;
    // @phase barrier
    ATTN_STAMP(stamps.mark<kStampWarp, kStampWaitK>());
    if constexpr (ATTN_STAGES == 1) {
      __syncthreads();  // nobody reads the tile before any more
      feed.fetch(0);
      commit_copies();
      wait_for_copies<0>();
    } else {
      wait_for_copies<(ATTN_STAGES > 1 ? ATTN_STAGES - 2 : 0)>();
    }
    __syncthreads();  // tile j has come for all, and nobody reads the tile before: its place is free
    // @phase mask
    const Window window(a, tile, int64{j} * ATTN_BC);
    ATTN_STAMP(stamps.mark<kStampWarp, kStampScores>());
    ATTN_STAMP(stamps.mark<kStampWarp, kStampMaximum>());
    ATTN_STAMP(stamps.mark<kStampWarp, kStampOutput>());
    ATTN_TRACE(trace_begin(a, tile.head, tile.r0, j));
    ATTN_TRACE(trace_fragments_unseen());
    if (!window.hides(warp_row, warp_row + kWarpRows)) {
      // @phase S
      Scores s;
      add_scores(at, query, stage, s, [&](int done) {
        // The copies of a tile to come, in four groups: each holds up the reads behind it.
        constexpr int kAll = kDt * kCt, kGap = kAll < 4 ? 1 : kAll / 4, kGroups = kAll < 4 ? kAll : 4;
        if (ATTN_STAGES > 1 && done % kGap == kGap / 2 && done / kGap < kGroups) {
          feed.fetch_part(before, done / kGap, kGroups);
        }
      });
      ATTN_STAMP(stamps.mark<kStampWarp, kStampMaximum>());
      ATTN_TRACE(trace_fragment_scores(kTrace.s, s));
      // @phase mask
      if (ATTN_BIAS || !window.is_whole(warp_row, warp_row + kWarpRows)) {
        mask_scores(a, window, bias, at.row, at.column, s);
      }
      // @phase m
      ATTN_TRACE(trace_fragment_scores(kTrace.masked, s));
      ATTN_TRACE(const auto trace_before = trace_maximum(rows));
      raise_max(s, scale, rows);
      ATTN_TRACE(trace_fragment_factors(trace_before, rows));
      ATTN_STAMP(stamps.mark<kStampWarp, kStampOutput>());
      // @phase P
      weigh_and_add(at, stage, s, scale, rows);
    } else if (ATTN_STAGES > 1) {
      // @phase loop
      feed.fetch(before);
    }
    ATTN_TRACE(trace_fragment_rows<1>(rows));
    ATTN_STAMP(stamps.close<kStampWarp>(j, stage / kAt.stage_bytes, -1));
    // @phase loop
    commit_copies();
    feed.next();
    bias.next();
    stage = stage + kAt.stage_bytes == kRing ? 0 : stage + kAt.stage_bytes;
  }

  // @phase barrier
  ATTN_STAMP(stamps.single<kStampStore>(-1, -1));
  wait_for_copies<0>();
  __syncthreads();  // nobody reads Q or the ring any more
  // @phase store
  store(a, tile, at, rows, shared);
  ATTN_STAMP(stamps.end(threadIdx.x / 32));
}

}  // namespace attn::gpu
