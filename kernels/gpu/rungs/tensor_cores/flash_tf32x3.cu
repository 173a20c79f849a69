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
// Rows. Splitting takes three fast instructions for each number a warp reads, so a warp has two tiles of 16 rows that
// share each fragment of K and V. Beside an O wider than 64 columns there are no registers for them: there two warps
// share 32 rows. Each takes half of the keys of S and half of the columns of O, and hands the other its P; m is that of
// both.
//
// What limits it now. TF32 products have half the rate of f16, and three of them a third of that: about 109 TFLOP/s on
// an H100 that did nothing else. A scheduler has two warps, and what these do on the arithmetic units is not all done
// beside the products of the other: the tensor cores are busy for 60 to 65 % of the time. Three warps, which the
// registers allow in tiles of 32 keys, are slower, and so is the one instruction that rounds to TF32 (cvt.rna) in place
// of two.
#include "kernels/gpu/flash_tf32x3_layout.h"
#include "kernels/gpu/flash_tile.cuh"  // before device.cuh
#include "kernels/gpu/key_ring.cuh"
#include "kernels/gpu/mma.cuh"
#include "kernels/gpu/tile_copy.cuh"
#include "kernels/gpu/trace.cuh"
#include "kernels/gpu/warp_pair.cuh"

namespace attn::gpu {

constexpr FlashTf32x3Layout kAt = flash_tf32x3_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC, ATTN_THREADS, ATTN_STAGES);
constexpr int kMt = kAt.row_tiles;                                           // tiles of 16 rows a warp
constexpr int kDt = kAt.d / 8;                                               // steps of 8 along D
constexpr int kKeys = ATTN_BC / kAt.sharers;                                 // of a tile: those of a warp
constexpr int kCt = kKeys / 8;                                               // steps of 8 of its keys
constexpr int kColumns = kAt.sharers == 1 ? ATTN_DV : kAt.dv / kAt.sharers;  // of O: those of a warp
constexpr int kOt = (kColumns + 15) / 16;                                    // steps of 16 along them
constexpr int kSharers = kAt.sharers;                                        // warps that share their rows
constexpr bool kPaired = kSharers == 2;
// Steps that the tensor cores sum by themselves; two warps that share rows have registers for fewer of P.
constexpr int kSumD = 4, kSumC = kPaired ? 2 : 4;
// Twice 16 columns that are summed side by side: each product waits for the one before it in its own sum.
constexpr int kWideS = kCt % 4 == 0 ? 2 : 1, kWideO = kOt % 2 == 0 && (kPaired || kOt <= 4) ? 2 : 1;
// Where O is wide the compiler shall not read V far ahead of its use; it does not look across a __syncwarp().
constexpr bool kFewRegisters = kOt > 8;
constexpr int kWarpRows = 16 * kMt;
constexpr int kQWidth = kAt.d / 4, kVWidth = kAt.dv / 4;  // chunks of a row

using Scores = float[kMt][kCt][4];    // S: fragments of 16 x 8
using WarpRows = Rows<kMt, 2 * kOt>;  // fragment 2 n + e has columns 16 n + 2 c + e of O, c = 0 ... 7
using Partner = WarpPair<kAt.p_bytes>;
using CopyQ = TileCopy<ATTN_BR, ATTN_D, kQWidth, Swizzled<kQWidth>>;
using CopyK = TileCopy<ATTN_BC, ATTN_D, kQWidth, Swizzled<kQWidth>>;
using CopyV = TileCopy<ATTN_BC, ATTN_DV, kVWidth, Swizzled<kVWidth>>;
using Ring = KeyRing<Feed<CopyK, CopyV>, kAt.stage_bytes, kPaired && (ATTN_STAGES > 1)>;

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

// 2 W neighbours of C from `at` on: C += A B in three products, the small ones first. B's fragment n of each two is
// elements n and n + 2 of its part.
template <bool FIRST, int W, int TILES>
__device__ inline void add_products(float (&c)[kMt][TILES][4], int at, const Split (&a)[kMt], const Split (&b)[W]) {
#pragma unroll
  for (int part = 0; part < 3; ++part) {
#pragma unroll
    for (int n = 0; n < 2 * W; ++n) {
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        const unsigned(&x)[4] = part == 0 ? a[i].low : a[i].high;
        const unsigned(&y)[4] = part == 1 ? b[n / 2].low : b[n / 2].high;
        if (FIRST && part == 0) {
          mma_tf32<true>(c[i][at + n], x, y[n % 2], y[n % 2 + 2]);
        } else {
          mma_tf32<false>(c[i][at + n], x, y[n % 2], y[n % 2 + 2]);
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
  int keys, o;      // where the warp's keys of a tile begin, and its columns of O
  unsigned k;       // its place in the first piece of the warp's keys of the ring's first K tile
  unsigned to_q;    // from there to that in the first piece of the warp's rows of Q
  unsigned v;       // the warp's columns of the first V tile of the ring

  __device__ inline Lane(int warp, unsigned tile_q, unsigned ring) {
    const int lane = threadIdx.x % 32, half = warp % kSharers, warp_row = warp / kSharers * kWarpRows;
    row = warp_row + lane / 4;
    column = lane % 4 * 2;
    keys = half * kKeys;
    o = half * kColumns;
    // K's fragments are read as Q's are, so the way from one to the other is the same for all lanes.
    const unsigned first = ring + kChunk * kQWidth * keys;
    k = kept(first + Pieces<kQWidth>::lane(ldmatrix_row(lane), ldmatrix_chunk(lane)));
    to_q = uniform(static_cast<int>(tile_q + kChunk * kQWidth * warp_row - first));
    v = ring + kAt.k_bytes + 4 * o;
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
    for (int c = 0; c < kCt; c += 2 * kWideS) {
      Split y[kWideS];
#pragma unroll
      for (int w = 0; w < kWideS; ++w) {
        unsigned read[4];
        ldmatrix(read, k_at.at(8 * (c + 2 * w), first + d));
        y[w] = Split(read);
      }
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

// m over the keys of both warps; l and O follow.
__device__ inline void raise_max_of_both(const Scores& s, float scale, const Partner& partner, WarpRows& rows) {
  // @phase m
  float highest[kMt][2];
  bool rises = false;
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float x = fmaxf(s[i][0][2 * h], s[i][0][2 * h + 1]);
#pragma unroll
      for (int n = 1; n < kCt; ++n) x = fmaxf(x, fmaxf(s[i][n][2 * h], s[i][n][2 * h + 1]));
      highest[i][h] = x;
      rises = rises || fmaf(x, scale, -kSlack) > rows.m[i][h];
    }
  }
  if (!partner.any(rises)) return;
  // @phase m
  const float4 its = partner.swap(make_float4(highest[0][0], highest[0][1], highest[kMt - 1][0], highest[kMt - 1][1]));
  float of_both[kMt][1][4];
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
    of_both[i][0][0] = highest[i][0], of_both[i][0][1] = i == 0 ? its.x : its.z;
    of_both[i][0][2] = highest[i][1], of_both[i][0][3] = i == 0 ? its.y : its.w;
  }
  raise_max(of_both, scale, rows);
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
//
// Where two warps share their rows each adds its own keys first, then the other's: P of these comes through shared
// memory as it lies in the other's registers.
__device__ inline void add_output(const Lane& at, unsigned stage, const Scores& p, const Partner& partner,
                                  WarpRows& rows) {
  // @phase O
  constexpr int kAll = kSharers * kCt;
  const int g = threadIdx.x % 32 / 4, even = at.column;
  const int own = kChunk * kVWidth * at.keys, others = kChunk * kVWidth * (ATTN_BC - kKeys - at.keys);
  unsigned from[2][2];  // of the even and the odd row, in each half of 8 chunks
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    from[n / 2][n % 2] = at.v + stage + Swizzled<kVWidth>::at(even + n / 2, n % 2 * 4 + g / 2) + g % 2 * 8;
  }
  if constexpr (kPaired) {
#pragma unroll
    for (int c = 0; c < kCt; ++c) {
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        partner.put(c * kMt + i, make_float4(p[i][c][0], p[i][c][2], p[i][c][1], p[i][c][3]));
      }
    }
  }
#pragma unroll
  for (int c0 = 0; c0 < kAll; c0 += kSumC) {
    if (kPaired && c0 <= kCt && kCt < c0 + kSumC) partner.meet();
    // @phase O
    Split x[kSumC][kMt];
#pragma unroll
    for (int c = c0; c < c0 + kSumC && c < kAll; ++c) {
#pragma unroll
      for (int i = 0; i < kMt; ++i) {
        if (c < kCt) {
#pragma unroll
          for (int e = 0; e < 4; ++e) x[c - c0][i].set(e, __float_as_uint(p[i][c][e % 2 * 2 + e / 2]));
        } else {
          const float4 its = partner.get((c - kCt) * kMt + i);
          x[c - c0][i].set(0, __float_as_uint(its.x));
          x[c - c0][i].set(1, __float_as_uint(its.y));
          x[c - c0][i].set(2, __float_as_uint(its.z));
          x[c - c0][i].set(3, __float_as_uint(its.w));
        }
      }
    }
#pragma unroll
    for (int n = 0; n < kOt; n += kWideO) {
      if (kFewRegisters) __syncwarp();
      float part[kMt][2 * kWideO][4];
#pragma unroll
      for (int c = c0; c < c0 + kSumC && c < kAll; ++c) {
        const unsigned row = c < kCt ? own + kChunk * 8 * c * kVWidth : others + kChunk * 8 * (c - kCt) * kVWidth;
        Split y[kWideO];
#pragma unroll
        for (int w = 0; w < kWideO; ++w) {
          const unsigned step = row + kChunk * ((n + w) / 2 * 8);
          unsigned read[4];
          read_shared(from[0][(n + w) % 2] + step, read[0], read[1]);
          read_shared(from[1][(n + w) % 2] + step, read[2], read[3]);
          y[w] = Split(read);
        }
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
__device__ inline void store(const Args& a, const QueryTile& tile, const Lane& at, const Partner& partner,
                             const WarpRows& rows) {
  // @phase l
  float l[kMt][2];
#pragma unroll
  for (int i = 0; i < kMt; ++i) l[i][0] = sum_of_row(rows.l[i][0]), l[i][1] = sum_of_row(rows.l[i][1]);
  if constexpr (kPaired) {
    const float4 its = partner.swap(make_float4(l[0][0], l[0][1], l[kMt - 1][0], l[kMt - 1][1]));
    l[0][0] += its.x, l[0][1] += its.y, l[kMt - 1][0] += its.z, l[kMt - 1][1] += its.w;
  }
  // @phase store
#pragma unroll
  for (int i = 0; i < kMt; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float sum = l[i][h];
      if (at.row + 16 * i + 8 * h >= tile.rows) continue;
      const int64 row = tile.head * a.Lq + tile.r0 + at.row + 16 * i + 8 * h;
      // @phase normalise
      const bool none = sum == 0.0f;
      const float inverse = 1.0f / sum;
      // @phase store
      float* out = static_cast<float*>(a.out) + row * ATTN_DV;
#pragma unroll
      for (int n = 0; n < kOt; ++n) {
        const int d = at.o + 16 * n + 2 * at.column;
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
      if (at.column == 0 && at.o == 0) a.lse[row] = none ? minus_infinity() : (rows.m[i][h] + log2f(sum)) * kLn2;
    }
  }
}

// The rows of the query tile on CUDA cores, where something is not finite. A warp has a row at a time; a lane takes a
// key of 32, then every 32nd column of O.
__device__ inline void plain_rows(const Args& a, const QueryTile& tile) {
  // @phase setup
  constexpr int kEach = (ATTN_DV + 31) / 32;  // columns a lane
  const int lane = threadIdx.x % 32;
  const float* k = static_cast<const float*>(a.k) + kv_head(a, tile.head) * a.Lk * ATTN_D;
  const float* v = static_cast<const float*>(a.v) + kv_head(a, tile.head) * a.Lk * ATTN_DV;
#pragma unroll 1
  for (int i = threadIdx.x / 32; i < ATTN_BR && i < tile.rows; i += ATTN_THREADS / 32) {
    const int64 r = tile.r0 + i, row = tile.head * a.Lq + r, end = last_key(a, tile.length, r);
    const float* q = static_cast<const float*>(a.q) + row * ATTN_D;
    // @phase O
    float o[kEach] = {}, m = minus_infinity(), l = 0;
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
      for (int j = 0; j < kEach; ++j) o[j] *= alpha;
#pragma unroll 1
      for (int n = 0; n < 32; ++n) {
        const float weight = __shfl_sync(0xffffffffu, p, n);
        if (weight == 0.0f) continue;  // its V is not asked for
#pragma unroll
        for (int j = 0; j < kEach; ++j) {
          if (32 * j + lane < ATTN_DV) o[j] += weight * v[(c0 + n) * ATTN_DV + 32 * j + lane];
        }
      }
    }
    // @phase normalise
    const bool none = l == 0.0f;
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const int d = 32 * j + lane;
      if (d < ATTN_DV) static_cast<float*>(a.out)[row * ATTN_DV + d] = none ? 0.0f : o[j] / l;
    }
    // @phase store
    if (lane == 0) a.lse[row] = none ? minus_infinity() : (m + log2f(l)) * kLn2;
  }
}

// The key tiles, Q being in shared memory.
__device__ inline void add_tiles(const Args& a, const QueryTile& tile, int warp, unsigned base, float scale,
                                 WarpRows& rows) {
  // @phase setup
  const Lane at(warp, base, base + kAt.stages_at);
  const Partner partner(warp, base + kAt.p_at);
  const int warp_row = warp / kSharers * kWarpRows;
  Bias bias(a, tile, at.row, at.keys + at.column);
  Ring ring(Feed<CopyK, CopyV>(a, tile, base + kAt.stages_at, kAt.k_bytes), base + kAt.counters_at);
#pragma unroll 1
  for (int j = tile.j; j < tile.j_end; ++j) {
    ring.await();
    // @phase mask
    const Window window(a, tile, int64{j} * ATTN_BC);
    const bool hidden = window.hides(warp_row, warp_row + kWarpRows);
    ATTN_TRACE(trace_begin(a, tile.head, tile.r0, j));
    ATTN_TRACE(trace_fragments_unseen());
    // @phase S
    Scores s;
    if (!hidden) add_scores(at, ring.stage, s);
    ring.ask();
    if (!hidden) {
      ATTN_TRACE(trace_fragment_scores(kTrace.s, s));
      // @phase mask
      if (ATTN_BIAS || !window.is_whole(warp_row, warp_row + kWarpRows)) {
        mask_scores(a, window, bias, at.row, at.keys + at.column, s);
      }
      // @phase m
      ATTN_TRACE(trace_fragment_scores(kTrace.masked, s));
      ATTN_TRACE(const auto trace_before = trace_maximum(rows));
      if constexpr (kPaired) {
        raise_max_of_both(s, scale, partner, rows);
      } else {
        raise_max(s, scale, rows);
      }
      ATTN_TRACE(trace_fragment_factors(trace_before, rows));
      // @phase P
      weigh(s, scale, rows);
      ATTN_TRACE(trace_fragment_scores(kTrace.p, s));
      // @phase O
      add_output(at, ring.stage, s, partner, rows);
    }
    ATTN_TRACE(trace_fragment_rows<2>(rows));
    ring.done();
    // @phase loop
    bias.next();
  }
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, kAt.blocks) flash_tf32x3(const Args a) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const unsigned base = shared_address(shared);
  const QueryTile tile(a);
  const int warp = uniform(static_cast<int>(threadIdx.x) / 32);
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
    add_tiles(a, tile, warp, base, scale, rows);
    // @phase store
    if (__syncthreads_or(has_odd(rows))) {
      plain_rows(a, tile);
      return;
    }
  }
  // @phase store
  store(a, tile, Lane(warp, base, base + kAt.stages_at), Partner(warp, base + kAt.p_at), rows);
}

}  // namespace attn::gpu
