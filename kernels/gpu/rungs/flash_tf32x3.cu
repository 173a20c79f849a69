// flash_tf32x3: FlashAttention-2 with fp32 answers from tensor cores, each product taken as three.
//
//   for each query tile i (one block):                      Q_i to shared memory; m = -inf, l = 0, O = 0
//     for each key tile j that the mask does not hide:
//       S = Q_i K_j^T, masked                               high high + high low + low high
//       if some row's maximum rose by more than 2^8:        m, l and O follow, as in flash_mma
//       P = exp(scale S - m);  l = l + rowsum P
//       O = O + P V_j                                       high high + high low + low high
//     O = O / l;  LSE = m + ln l
//
// The idea. Tensor cores take fp32 numbers, but read 11 of their 24 significant bits (TF32). So each number is split:
// high is x rounded to 11 bits, low = x - high, which is exact and has 12 bits or fewer. Then
// x y = high high + high low + low high + low low, and the last is below fp32's own rounding: three products with
// fp32's accuracy. torch's memory-efficient kernel does the same in fp32.
//
// New against flash_simt: the multiply-adds. Against flash_mma: fragments of 16 x 8 x 8, each split where it was read,
// and P's way from one product to the next. The fragment of S has neighbouring keys 2 t and 2 t + 1 in lane t of four,
// that of P wants t and t + 4; but the sum over keys does not mind their order, so V's rows are read in S's. V's
// columns are dealt out alike: a lane reads two neighbours at once and gives them to two fragments, and so ends up with
// four neighbours of O.
//
// Sums. A tensor core does not round what it adds up, it cuts: always towards zero, so that the errors of a long sum
// add up as well (5e-4 of an average over 131072 keys). So it sums no more than 32 dimensions of S, or 32 keys of O, and
// an ordinary addition, which rounds, takes what came out.
//
// An infinite x has no low part (inf - inf is NaN), and a very large one may round to an infinite high. Asking each
// number would cost as much as the split. So a block that finds a NaN or an infinity in what it would store computes
// its rows again on CUDA cores. Finite results are right: whatever the split spoils becomes NaN.
//
// What limits it now. TF32 products have half the rate of f16, and three of them a third of that: about 109 TFLOP/s on
// an H100 that did nothing else. Splitting takes three fast instructions for each number a warp reads, and what the
// warps do on the arithmetic units is not done beside the products. Two tiles of 16 rows that share each fragment of K
// and V would halve it; beside an O wider than 64 columns there are no registers for them.
#include "kernels/gpu/flash_tf32x3_layout.h"
#include "kernels/gpu/flash_tile.cuh"  // before device.cuh
#include "kernels/gpu/mma.cuh"
#include "kernels/gpu/tile_copy.cuh"
#include "kernels/gpu/trace.cuh"

namespace attn::gpu {

constexpr FlashTf32x3Layout kAt = flash_tf32x3_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC, ATTN_THREADS, ATTN_STAGES);
constexpr int kMt = kAt.row_tiles;        // tiles of 16 rows a warp
constexpr int kDt = kAt.d / 8;            // steps of 8 along D
constexpr int kCt = ATTN_BC / 8;          // steps of 8 keys
constexpr int kOt = (ATTN_DV + 15) / 16;  // steps of 16 along Dv
constexpr int kSumD = 4, kSumC = 4;       // steps that the tensor cores sum by themselves
// Where O is wide the compiler shall not read V far ahead of its use; it does not look across a __syncwarp().
constexpr bool kFewRegisters = kOt > 8;
constexpr int kWarpRows = 16 * kMt;
constexpr int kQWidth = kAt.d / 4, kVWidth = kAt.dv / 4;  // chunks of a row

using Scores = float[kMt][kCt][4];    // S: fragments of 16 x 8
using WarpRows = Rows<kMt, 2 * kOt>;  // fragment 2 n + e has columns 16 n + 2 c + e of O, c = 0 ... 7
using CopyQ = TileCopy<ATTN_BR, ATTN_D, kQWidth, Swizzled<kQWidth>>;
using CopyK = TileCopy<ATTN_BC, ATTN_D, kQWidth, Swizzled<kQWidth>>;
using CopyV = TileCopy<ATTN_BC, ATTN_DV, kVWidth, Swizzled<kVWidth>>;

// ---- numbers in two parts

struct Split {
  unsigned high[4], low[4];

  __device__ inline void set(int n, unsigned x) {
    constexpr unsigned kRead = 0xffffe000u;  // sign, exponent and the 10 bits after the point that TF32 has
    high[n] = (x + 0x1000u) & kRead;
    low[n] = __float_as_uint(__uint_as_float(x) - __uint_as_float(high[n]));
  }
  __device__ inline explicit Split(const unsigned (&x)[4]) {
#pragma unroll
    for (int n = 0; n < 4; ++n) set(n, x[n]);
  }
  Split() = default;
};

// C += A B, 16 x 8 += 16 x 8 times 8 x 8; FIRST: C = A B.
template <bool FIRST>
__device__ inline void mma_tf32(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  if constexpr (FIRST) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
        : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(0.0f));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

// Two neighbours of C from `at` on: C += A B in three products, the small ones first. B's fragment n is elements n and
// n + 2.
template <bool FIRST, int TILES>
__device__ inline void add_products(float (&c)[kMt][TILES][4], int at, const Split (&a)[kMt], const Split& b) {
#pragma unroll
  for (int part = 0; part < 3; ++part) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        const unsigned(&x)[4] = part == 0 ? a[i].low : a[i].high;
        const unsigned(&y)[4] = part == 1 ? b.low : b.high;
        if (FIRST && part == 0) {
          mma_tf32<true>(c[i][at + n], x, y[n], y[n + 2]);
        } else {
          mma_tf32<false>(c[i][at + n], x, y[n], y[n + 2]);
        }
      }
    }
  }
}

// C += part, from C's fragment `first` on.
template <int TILES, int ALL>
__device__ inline void add(float (&c)[kMt][ALL][4], int first, const float (&part)[kMt][TILES][4]) {
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < TILES; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) c[i][first + n][e] += part[i][n][e];
    }
  }
}

// ---- the two products

// Where this lane is and reads.
struct Lane {
  int row, column;  // of the query tile and of each 8 columns of a fragment: its first
  unsigned k;       // its place in the first piece of the ring's first K tile
  unsigned to_q;    // from there to that in the first piece of the warp's rows of Q
  unsigned v;       // the first V tile of the ring

  __device__ inline Lane(int warp_row, unsigned tile_q, unsigned ring) {
    const int lane = threadIdx.x % 32;
    row = warp_row + lane / 4;
    column = lane % 4 * 2;
    // K's fragments are read as Q's are, so the way from one to the other is the same for all lanes.
    k = kept(ring + Pieces<kQWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane)));
    to_q = uniform(static_cast<int>(tile_q + kChunk * kQWidth * warp_row - ring));
    v = ring + kAt.k_bytes;
  }
};

// S = Q_i K_j^T along STEPS of 8 dimensions, two tiles of 8 keys at a time.
template <int STEPS>
__device__ inline void take_scores(unsigned k, unsigned to_q, int first, Scores& s) {
  // @phase S
  const Pieces<kQWidth> k_at(k);
#pragma unroll
  for (int d = 0; d < STEPS; ++d) {
    Split x[kMt];
#pragma unroll
    for (int i = 0; i < kMt; ++i) {
      unsigned read[4];
      ldmatrix(read, k_at.at(16 * i, first + d) + to_q);
      x[i] = Split(read);
    }
#pragma unroll
    for (int c = 0; c < kCt; c += 2) {
      unsigned read[4];
      ldmatrix(read, k_at.at(8 * c, first + d));
      const Split y(read);
      if (d == 0) {
        add_products<true>(s, c, x, y);
      } else {
        add_products<false>(s, c, x, y);
      }
    }
  }
}

// S = Q_i K_j^T, kSumD steps at a time. After so many the swizzle repeats, and the loop stays a loop.
__device__ inline void add_scores(const Lane& at, unsigned stage, Scores& s) {
  // @phase S
  constexpr int kLoops = kDt / kSumD, kRest = kDt % kSumD;
  const unsigned k = at.k + stage, to_q = at.to_q - stage;
  take_scores<(kLoops > 0 ? kSumD : kRest)>(k, to_q, 0, s);
#pragma unroll 1
  for (unsigned n = 1; n < kLoops; ++n) {
    constexpr unsigned kBytes = kSumD * 2 * kChunk;
    Scores part;
    take_scores<kSumD>(k + n * kBytes, to_q, 0, part);
    add(s, 0, part);
  }
  if constexpr (kLoops > 0 && kRest > 0) {
    Scores part;
    take_scores<kRest>(k, to_q, kLoops * kSumD, part);
    add(s, 0, part);
  }
}

// P = exp(scale S - m) over S.
__device__ inline void weigh(Scores& s, float scale, WarpRows& rows) {
  // @phase P
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int n = 0; n < kCt; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        s[i][n][e] = exp2_fast(fmaf(s[i][n][e], scale, -rows.m[i][e / 2]));
        // @phase l
        rows.l[i][e / 2] += s[i][n][e];
      }
    }
  }
}

__device__ inline void read_shared(unsigned at, unsigned& x, unsigned& y) {
  asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at) : "memory");
}

// O += P V_j. Lane (g, t) of eight times four reads rows 2 t and 2 t + 1 of V, at columns 2 g and 2 g + 1 of each 16:
// in any sixteen lanes the four even (or odd) rows and two neighbouring chunks, which the swizzle spreads over all
// banks.
__device__ inline void add_output(const Lane& at, unsigned stage, const Scores& p, WarpRows& rows) {
  // @phase O
  const int g = threadIdx.x % 32 / 4, even = at.column;
  unsigned from[2][2];  // of the even and the odd row, in each half of 8 chunks
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    from[n / 2][n % 2] = at.v + stage + Swizzled<kVWidth>::at(even + n / 2, n % 2 * 4 + g / 2) + g % 2 * 8;
  }
#pragma unroll
  for (int c0 = 0; c0 < kCt; c0 += kSumC) {
    Split x[kSumC][kMt];
#pragma unroll
    for (int c = c0; c < c0 + kSumC && c < kCt; ++c) {
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) x[c - c0][i].set(e, __float_as_uint(p[i][c][e % 2 * 2 + e / 2]));
      }
    }
#pragma unroll
    for (int n = 0; n < kOt; ++n) {
      if (kFewRegisters) __syncwarp();
      float part[kMt][2][4];
#pragma unroll
      for (int c = c0; c < c0 + kSumC && c < kCt; ++c) {
        const unsigned step = kChunk * (8 * c * kVWidth + n / 2 * 8);
        unsigned read[4];
        read_shared(from[0][n % 2] + step, read[0], read[1]);
        read_shared(from[1][n % 2] + step, read[2], read[3]);
        const Split y(read);
        if (c == c0) {
          add_products<true>(part, 0, x[c - c0], y);
        } else {
          add_products<false>(part, 0, x[c - c0], y);
        }
      }
      add(rows.o, 2 * n, part);
    }
  }
}

// ---- the way out

__device__ inline float max_of_warp(float x) {
#pragma unroll
  for (int n = 16; n > 0; n /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, n));
  return x;
}
__device__ inline float sum_of_warp(float x) {
#pragma unroll
  for (int n = 16; n > 0; n /= 2) x += __shfl_xor_sync(0xffffffffu, x, n);
  return x;
}

__device__ inline bool is_finite(float x) {
  return x - x == 0.0f;
}

// Whether anything that would be stored is NaN or infinite.
__device__ inline bool has_odd(const WarpRows& rows) {
  // @phase store
  bool odd = false;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      odd = odd || !is_finite(rows.l[i][h]) || !is_finite(rows.m[i][h]);
#pragma unroll
      for (int n = 0; n < 2 * kOt; ++n) {
        odd = odd || !is_finite(rows.o[i][n][2 * h]) || !is_finite(rows.o[i][n][2 * h + 1]);
      }
    }
  }
  return odd;
}

// O / l and LSE. A row that saw no key of weight: 0 and -inf.
__device__ inline void store(const Args& a, const QueryTile& tile, const Lane& at, const WarpRows& rows) {
  // @phase store
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      // @phase l
      const float sum = sum_of_row(rows.l[i][h]);
      // @phase store
      if (at.row + 16 * i + 8 * h >= tile.rows) continue;
      const int64 row = tile.head * a.Lq + tile.r0 + at.row + 16 * i + 8 * h;
      // @phase normalise
      const bool none = sum == 0.0f;
      const float inverse = 1.0f / sum;
      // @phase store
      float* out = static_cast<float*>(a.out) + row * ATTN_DV;
#pragma unroll
      for (int n = 0; n < kOt; ++n) {
        const int d = 16 * n + 2 * at.column;
        // @phase normalise
        float x[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) x[e] = none ? 0.0f : rows.o[i][2 * n + e % 2][2 * h + e / 2] * inverse;
        ATTN_TRACE(trace_normalised(a, tile.head, tile.r0, at.row + 16 * i + 8 * h, d, x));
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
      if (at.column == 0) a.lse[row] = none ? minus_infinity() : (rows.m[i][h] + log2f(sum)) * kLn2;
    }
  }
}

// The rows of the query tile on CUDA cores, where something is not finite. A warp has a row at a time; a lane takes a
// key of 32, then every 32nd column of O.
__device__ inline void plain_rows(const Args& a, const QueryTile& tile) {
  // @phase setup
  constexpr int kColumns = (ATTN_DV + 31) / 32;
  const int lane = threadIdx.x % 32;
  const float* k = static_cast<const float*>(a.k) + kv_head(a, tile.head) * a.Lk * ATTN_D;
  const float* v = static_cast<const float*>(a.v) + kv_head(a, tile.head) * a.Lk * ATTN_DV;
#pragma unroll 1
  for (int i = threadIdx.x / 32; i < ATTN_BR && i < tile.rows; i += ATTN_THREADS / 32) {
    const int64 r = tile.r0 + i, row = tile.head * a.Lq + r, end = last_key(a, tile.length, r);
    const float* q = static_cast<const float*>(a.q) + row * ATTN_D;
    // @phase O
    float o[kColumns] = {}, m = minus_infinity(), l = 0;
    // @phase loop
#pragma unroll 1
    for (int64 c0 = first_key(a, r); c0 < end; c0 += 32) {
      const int64 c = c0 + lane;
      // @phase S
      float s = minus_infinity();
      if (c < end) {
        float sum = 0;
#pragma unroll 1
        for (int d = 0; d < ATTN_D; ++d) sum += q[d] * k[c * ATTN_D + d];
        s = with_bias(a, tile.head, r, c, sum * a.scale_log2, kLog2E);
      }
      // @phase m
      const float larger = fmaxf(m, max_of_warp(s));
      // No key of weight yet: -inf - -inf would be NaN.
      const float shift = larger == minus_infinity() ? 0.0f : larger;
      // @phase alpha
      const float alpha = m == larger ? 1.0f : exp2_fast(m - shift), p = exp2_fast(s - shift);
      // @phase m
      m = larger;
      // @phase l
      l = l * alpha + sum_of_warp(p);
      // @phase O
#pragma unroll
      for (int j = 0; j < kColumns; ++j) o[j] *= alpha;
#pragma unroll 1
      for (int n = 0; n < 32; ++n) {
        const float weight = __shfl_sync(0xffffffffu, p, n);
        if (weight == 0.0f) continue;  // its V is not asked for
#pragma unroll
        for (int j = 0; j < kColumns; ++j) {
          if (32 * j + lane < ATTN_DV) o[j] += weight * v[(c0 + n) * ATTN_DV + 32 * j + lane];
        }
      }
    }
    // @phase normalise
    const bool none = l == 0.0f;
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const int d = 32 * j + lane;
      if (d < ATTN_DV) static_cast<float*>(a.out)[row * ATTN_DV + d] = none ? 0.0f : o[j] / l;
    }
    // @phase store
    if (lane == 0) a.lse[row] = none ? minus_infinity() : (m + log2f(l)) * kLn2;
  }
}

// The key tiles, Q being in shared memory.
__device__ inline void add_tiles(const Args& a, const QueryTile& tile, int warp_row, unsigned base, float scale,
                                 WarpRows& rows) {
  // @phase setup
  const Lane at(warp_row, base, base + kAt.stages_at);
  Bias bias(a, tile, at.row, at.column);
  Feed<CopyK, CopyV> feed(a, tile, base + kAt.stages_at, kAt.k_bytes);
  // @phase loop
#pragma unroll
  for (int n = 0; n < ATTN_STAGES - 1; ++n) {
    feed.fetch(n * kAt.stage_bytes);
    feed.next();
    commit_copies();
  }
  unsigned stage = 0;  // of tile j in the ring
#pragma unroll 1
  for (int j = tile.j; j < tile.j_end; ++j) {
    constexpr unsigned kRing = ATTN_STAGES * kAt.stage_bytes;
    // @phase barrier
    if constexpr (ATTN_STAGES == 1) {
      __syncthreads();  // nobody reads the tile before any more
      feed.fetch(0);
      commit_copies();
      wait_for_copies<0>();
      __syncthreads();
    } else {
      wait_for_copies<(ATTN_STAGES > 1 ? ATTN_STAGES - 2 : 0)>();
      __syncthreads();  // tile j has come for all, and nobody reads the tile before: its place is free
      // @phase loop
      feed.fetch(stage == 0 ? kRing - kAt.stage_bytes : stage - kAt.stage_bytes);
      commit_copies();
    }
    // @phase mask
    const Window window(a, tile, int64{j} * ATTN_BC);
    ATTN_TRACE(trace_begin(a, tile.head, tile.r0, j));
    ATTN_TRACE(trace_fragments_unseen());
    if (!window.hides(warp_row, warp_row + kWarpRows)) {
      // @phase S
      Scores s;
      add_scores(at, stage, s);
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
      // @phase P
      weigh(s, scale, rows);
      ATTN_TRACE(trace_fragment_scores(kTrace.p, s));
      // @phase O
      add_output(at, stage, s, rows);
    }
    ATTN_TRACE(trace_fragment_rows<2>(rows));
    // @phase loop
    feed.next();
    bias.next();
    stage = stage + kAt.stage_bytes == kRing ? 0 : stage + kAt.stage_bytes;
  }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, kAt.blocks) flash_tf32x3(const Args a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const unsigned base = shared_address(shared);
  const QueryTile tile(a);
  const int warp_row = uniform(static_cast<int>(threadIdx.x) / 32 * kWarpRows);
  float scale = scale_of_scores(a);
  WarpRows rows;
  if (tile.j < tile.j_end) {
    // @phase Q
    const Element* q = static_cast<const Element*>(a.q) + (tile.head * a.Lq + tile.r0) * ATTN_D;
    CopyQ::copy(base + CopyQ::first_to(), q + CopyQ::first_from(), tile.rows);
    commit_copies();
    // @phase barrier
    wait_for_copies<0>();
    __syncthreads();
    // @phase setup
    scale = with_positive_scale(scale, reinterpret_cast<Element*>(shared), ATTN_BR * kAt.d);
    add_tiles(a, tile, warp_row, base, scale, rows);
    // @phase store
    if (__syncthreads_or(has_odd(rows))) {
      plain_rows(a, tile);
      return;
    }
  }
  // @phase store
  store(a, tile, Lane(warp_row, base, base + kAt.stages_at), rows);
}

}  // namespace attn::gpu
