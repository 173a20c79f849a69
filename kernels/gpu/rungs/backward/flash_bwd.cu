// flash_bwd: the backward of FlashAttention-2 (Dao 2023, algorithm 2) on tensor cores, by the instructions themselves.
// f16 or bf16 in, sums in fp32.
//
//   flash_bwd_rows     delta = rowsum(dO * O), LSE in base 2          one warp 16 rows
//   flash_bwd_keys     for each key tile j (one block):               K_j, V_j to shared memory; dK = dV = 0
//     for each query tile i that sees it:                             Q_i, dO_i through a ring
//       S = Q_i K_j^T, masked;  P = exp(scale S - LSE)                in registers, P to shared memory
//       dP = dO_i V_j^T;  dS = P (dP - delta)                         in registers, dS to shared memory
//       dV += P^T dO_i;  dK += dS^T Q_i                               in registers
//       dQ_i += dS K_j                                                in device memory, by fp32 reductions
//     dK = scale dK
//   flash_bwd_dq       dQ = scale dQ, rounded
//
// The idea. Five products a tile, each on tensor cores; P and dS, rounded to the input's type, are factors of the last
// three. They go through shared memory, for there each warp finds the part that its share of a product wants: as it
// stands for dQ, transposed by ldmatrix for dK and dV.
//
// The key tile is outside: dK and dV stay in registers while the query tiles go by. A row of dQ gets a part from each
// key tile, so blocks add into it, in fp32 and in whatever order they come: the bits of dQ are not the same each time.
// The sums lie as the fragments do, so that the reductions of a warp are neighbours; flash_bwd_dq puts them in order.
//
// With `deterministic` they add in one order, that of the key tiles: a number a query tile counts who has added, and the
// next waits for its turn. Blocks take tickets, so that whoever is waited for has begun before; they walk from the last
// query tile to the first, each a little behind the one before it, and some heads go side by side, for a head's blocks
// can begin no closer after one another than half a tile.
//
// New against the rung before (flash_bwd_simt): tensor cores, a ring of Q and dO by cp.async, a swizzle in place of
// padding.
//
// What limits it now. Shared memory: mma.sync takes both factors from registers, and each fragment serves two products
// at most, so reads stand beside the tensor cores for all five.
#undef ATTN_MASKED
#define ATTN_MASKED 1  // one build for every mask and for none: before device.cuh
#include "kernels/gpu/backward.cuh"
#include "kernels/gpu/backward_turns.cuh"
#include "kernels/gpu/flash_bwd_layout.h"
#include "kernels/gpu/mma.cuh"
#include "kernels/gpu/tile_copy.cuh"

namespace attn::gpu {

constexpr FlashBwdLayout kAt = flash_bwd_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC, ATTN_THREADS, ATTN_STAGES);
static_assert(kAt.fits);
constexpr int kDWidth = kAt.d / 8, kVWidth = kAt.dv / 8, kSWidth = ATTN_BC / 8;  // chunks of a row
constexpr int kDSteps = (ATTN_D + 15) / 16, kVSteps = (ATTN_DV + 15) / 16;       // of 16 along D and Dv
constexpr int kSm = kAt.s.tiles, kSn = kAt.warp_keys / 16;
constexpr int kKm = kAt.k.tiles, kQm = kAt.q.tiles;
constexpr int kWarps = ATTN_THREADS / 32;

using Scores = float[kSm][2 * kSn][4];  // a warp's share of a tile: fragments of 16 x 8
using CopyQ = TileCopy<ATTN_BR, ATTN_D, kDWidth, Swizzled<kDWidth>>;
using CopyO = TileCopy<ATTN_BR, ATTN_DV, kVWidth, Swizzled<kVWidth>>;
using CopyK = TileCopy<ATTN_BC, ATTN_D, kDWidth, Swizzled<kDWidth>>;
using CopyV = TileCopy<ATTN_BC, ATTN_DV, kVWidth, Swizzled<kVWidth>>;

// A value that all lanes of the warp have alike, said so.
__device__ inline int uniform(int x) {
  return __shfl_sync(0xffffffffu, x, 0);
}

// What this warp has of each result.
struct Warp {
  int number, lane;
  int s_row, s_key;     // its first row and key of S
  int k_row, k_across;  // its first key of dK and dV, its place among the warps side by side
  int q_row, q_across;  // the same of dQ

  __device__ inline Warp() {
    number = uniform(static_cast<int>(threadIdx.x) / 32);
    lane = threadIdx.x % 32;
    s_row = number / kAt.s.across * 16 * kSm;
    s_key = number % kAt.s.across * kAt.warp_keys;
    k_row = number / kAt.k.across * 16 * kKm;
    k_across = number % kAt.k.across;
    q_row = number / kAt.q.across * 16 * kQm;
    q_across = number % kAt.q.across;
  }
};

// ---- copies

__device__ inline void copy_queries(const Args& a, const BackwardArgs& g, int64 head, int64 r0, unsigned to) {
  const int64 row = head * a.Lq + r0;
  const int rows = near(a.Lq - r0);
  // @phase Q
  CopyQ::copy(to + CopyQ::first_to(), static_cast<const Element*>(a.q) + row * ATTN_D + CopyQ::first_from(), rows);
  // @phase dO
  CopyO::copy(to + kAt.q_bytes + CopyO::first_to(),
              static_cast<const Element*>(g.d_o) + row * ATTN_DV + CopyO::first_from(), rows);
}
// Keys beyond the batch's arrive as zeros: whatever memory holds there, it must not reach a sum.
__device__ inline void copy_keys(const Args& a, int64 kv, int64 c0, int64 length, unsigned to) {
  const int64 row = kv * a.Lk + c0;
  const int rows = near(length - c0);
  // @phase K
  CopyK::copy(to + CopyK::first_to(), static_cast<const Element*>(a.k) + row * ATTN_D + CopyK::first_from(), rows);
  // @phase V
  CopyV::copy(to + kAt.k_bytes + CopyV::first_to(),
              static_cast<const Element*>(a.v) + row * ATTN_DV + CopyV::first_from(), rows);
}

// ---- S and dP

// X Y^T of the warp's rows of X and of Y; both lie in rows of WIDTH chunks.
template <int WIDTH, int STEPS>
__device__ inline void multiply_rows(const Warp& w, unsigned x, unsigned y, Scores& s) {
  const Pieces<WIDTH> x_at(x + kChunk * WIDTH * w.s_row +
                           Pieces<WIDTH>::lane(ldmatrix_row(w.lane), ldmatrix_chunk(w.lane)));
  const Pieces<WIDTH> y_at(y + kChunk * WIDTH * w.s_key +
                           Pieces<WIDTH>::lane(ldmatrix_row_of_k(w.lane), ldmatrix_chunk_of_k(w.lane)));
#pragma unroll
  for (int i = 0; i < kSm; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kSn; ++n) s[i][n][0] = s[i][n][1] = s[i][n][2] = s[i][n][3] = 0;
  }
#pragma unroll
  for (int step = 0; step < STEPS; ++step) {
    unsigned u[kSm][4];
#pragma unroll
    for (int i = 0; i < kSm; ++i) ldmatrix(u[i], x_at.at(16 * i, step));
#pragma unroll
    for (int n = 0; n < kSn; ++n) {
      unsigned v[4];
      ldmatrix(v, y_at.at(16 * n, step));
#pragma unroll
      for (int i = 0; i < kSm; ++i) {
        mma(s[i][2 * n], u[i], v[0], v[1]);
        mma(s[i][2 * n + 1], u[i], v[2], v[3]);
      }
    }
  }
}

// A tile's place: its first row and key, of which head, and how many keys the batch has.
struct Tile {
  int64 head, r0, c0, length;
};

// P of S: exp2(scale S - LSE), 0 where the mask hides the key. `shift`: of the lane's rows, in base 2.
__device__ inline void weigh(const Args& a, const Tile& t, const Warp& w, const float (&shift)[kSm][2],
                             Scores& slopes,  // @score
                             Scores& s) {
  // @phase mask
  const int first = near(t.r0 - t.c0 + a.first_shift), last = near(t.r0 - t.c0 + a.last_shift);
  const int end = near(t.length - t.c0), rows = near(a.Lq - t.r0);
  const bool whole = end >= ATTN_BC && first + ATTN_BR - 1 <= 0 && last >= ATTN_BC && rows >= ATTN_BR;
  if (!ATTN_BIAS && whole) {
    // @phase P
#pragma unroll
    for (int i = 0; i < kSm; ++i) {
#pragma unroll
      for (int n = 0; n < 2 * kSn; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) s[i][n][e] = exp2_fast(fmaf(s[i][n][e], a.scale_log2, -shift[i][e / 2]));
      }
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < kSm; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kSn; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        // @phase mask
        const int row = w.s_row + 16 * i + 8 * (e / 2) + w.lane / 4;
        const int c = w.s_key + 8 * n + w.lane % 4 * 2 + e % 2;
        const bool seen = c >= first + row && c < last + row && c < end && row < rows;
        float score = s[i][n][e] * a.scale_log2;
        slopes[i][n][e] = slope_of_score(a, score, kLog2E);  // @score
        if (ATTN_BIAS && seen) score = with_bias(a, t.head, t.r0 + row, t.c0 + c, score, kLog2E);
        // @phase P
        s[i][n][e] = exp2_fast((seen ? score : minus_infinity()) - shift[i][e / 2]);
      }
    }
  }
}

// The warp's share, rounded, to a tile of Br rows.
__device__ inline void keep(const Warp& w, unsigned char* to, const Scores& s) {
#pragma unroll
  for (int i = 0; i < kSm; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int n = 0; n < 2 * kSn; ++n) {
        const int row = w.s_row + 16 * i + 8 * h + w.lane / 4;
        *reinterpret_cast<unsigned*>(to + Swizzled<kSWidth>::at(row, w.s_key / 8 + n) + w.lane % 4 * 4) =
            pack(s[i][n][2 * h], s[i][n][2 * h + 1]);
      }
    }
  }
}

// P and dS of a tile, to shared memory. Q, K, dO and V lie at these addresses.
struct Factors {
  unsigned q, k, d_o, v;
};
__device__ inline void make_tile(const Args& a, const BackwardArgs& g, const Tile& t, const Warp& w, const Factors& at,
                                 unsigned char* p, unsigned char* d_s) {
  // @phase delta
  float shift[kSm][2], delta[kSm][2];
  const int64 row0 = t.head * g.rows + t.r0 + w.s_row + w.lane / 4;
#pragma unroll
  for (int i = 0; i < kSm; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      shift[i][h] = g.shift[row0 + 16 * i + 8 * h];
      delta[i][h] = g.delta[row0 + 16 * i + 8 * h];
    }
  }
  // @phase S
  Scores s, d_p;
  Scores slopes;  // @score
  multiply_rows<kDWidth, kDSteps>(w, at.q, at.k, s);
  weigh(a, t, w, shift,
        slopes,  // @score
        s);
  // @phase P
  if (p != nullptr) keep(w, p, s);  // always: but the branch holds ptxas back from mixing this with dP, and spilling
  // @phase dP
  multiply_rows<kVWidth, kVSteps>(w, at.d_o, at.v, d_p);
  // @phase dS
#pragma unroll
  for (int i = 0; i < kSm; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kSn; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        s[i][n][e] *= d_p[i][n][e] - delta[i][e / 2];
        s[i][n][e] *= slopes[i][n][e];  // @score
      }
    }
  }
  keep(w, d_s, s);
}

// ---- the three sums

// sum += X^T Y of a tile: X is P or dS, Y is dO or Q. Of the result the warp has 16 kKm keys, and of its columns every
// across-th step of 16.
template <int WIDTH, int STEPS>
__device__ inline void add_to_keys(const Warp& w, unsigned x, unsigned y, float (&sum)[kKm][2 * STEPS][4]) {
  // The keys are X's columns: ldmatrix turns them into rows. Its four matrices are those of K's order: rows of the
  // summed axis 0 to 7 and 8 to 15, in each two chunks of keys.
  const Pieces<kSWidth> x_at(
      x + Pieces<kSWidth>::lane(ldmatrix_row_of_k(w.lane), w.k_row / 8 + ldmatrix_chunk_of_k(w.lane)));
  const Pieces<WIDTH> y_at(y + Pieces<WIDTH>::lane(ldmatrix_row(w.lane), 2 * w.k_across + ldmatrix_chunk(w.lane)));
#pragma unroll
  for (int step = 0; step < ATTN_BR / 16; ++step) {
    unsigned u[kKm][4];
#pragma unroll
    for (int i = 0; i < kKm; ++i) ldmatrix_transposed(u[i], x_at.at(16 * step, i));
#pragma unroll
    for (int n = 0; n < STEPS; ++n) {
      unsigned v[4];
      ldmatrix_transposed(v, y_at.at(16 * step, kAt.k.across * n));
#pragma unroll
      for (int i = 0; i < kKm; ++i) {
        mma(sum[i][2 * n], u[i], v[0], v[1]);
        mma(sum[i][2 * n + 1], u[i], v[2], v[3]);
      }
    }
  }
}

// sum += dS K of a tile, the steps of 16 columns [FIRST, FIRST + COUNT) of the warp's.
template <int FIRST, int COUNT>
__device__ inline void add_to_queries(const Warp& w, unsigned d_s, unsigned k, float (&sum)[kQm][2 * COUNT][4]) {
  // @phase dQ
  const Pieces<kSWidth> x_at(d_s + kChunk * kSWidth * w.q_row +
                             Pieces<kSWidth>::lane(ldmatrix_row(w.lane), ldmatrix_chunk(w.lane)));
  const Pieces<kDWidth> y_at(k + Pieces<kDWidth>::lane(ldmatrix_row(w.lane), 2 * w.q_across + ldmatrix_chunk(w.lane)));
#pragma unroll
  for (int step = 0; step < ATTN_BC / 16; ++step) {
    unsigned u[kQm][4];
#pragma unroll
    for (int i = 0; i < kQm; ++i) ldmatrix(u[i], x_at.at(16 * i, step));
#pragma unroll
    for (int n = 0; n < COUNT; ++n) {
      unsigned v[4];
      ldmatrix_transposed(v, y_at.at(16 * step, kAt.q.across * (FIRST + n)));
#pragma unroll
      for (int i = 0; i < kQm; ++i) {
        mma(sum[i][2 * n], u[i], v[0], v[1]);
        mma(sum[i][2 * n + 1], u[i], v[2], v[3]);
      }
    }
  }
}

template <int M, int N>
__device__ inline void clear(float (&sum)[M][N][4]) {
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int n = 0; n < N; ++n) sum[i][n][0] = sum[i][n][1] = sum[i][n][2] = sum[i][n][3] = 0;
  }
}

// The warp's rows of a matrix of `width` columns: from `row0` on those below `rows`.
template <int WIDTH, int ACROSS, int M, int N>
__device__ inline void store(Element* to, int64 row0, int64 rows, int across, int lane, float factor,
                             const float (&sum)[M][N][4]) {
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const int64 row = row0 + 16 * i + 8 * h + lane / 4;
      if (row >= rows) continue;
#pragma unroll
      for (int n = 0; n < N; ++n) {
        const int d = 16 * (across + ACROSS * (n / 2)) + 8 * (n % 2) + lane % 4 * 2;
        const float x = sum[i][n][2 * h] * factor, y = sum[i][n][2 * h + 1] * factor;
        if (ATTN_ALIGNED) {
          if (d < WIDTH) *reinterpret_cast<unsigned*>(to + row * WIDTH + d) = pack(x, y);
        } else {
          if (d < WIDTH) to[row * WIDTH + d] = narrow(x);
          if (d + 1 < WIDTH) to[row * WIDTH + d + 1] = narrow(y);
        }
      }
    }
  }
}

// ---- dQ where blocks add into it

constexpr int kFragments = kQm * 2 * kAt.q_steps;  // of a warp

// Four neighbours, one lane's of a fragment.
__device__ inline void reduce(float* to, const float (&x)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
               : "memory");
#else
#pragma unroll
  for (int e = 0; e < 4; ++e) atomicAdd(to + e, x[e]);
#endif
}

// The part of one key tile: few steps of 16 columns at a time, for the sums of dK and dV leave few registers. The
// addresses of a bias take some more.
template <int FIRST>
__device__ inline void reduce_queries(const Warp& w, unsigned d_s, unsigned k, float* to) {
  constexpr int kMost = ATTN_BIAS ? 1 : 2, kCount = kAt.q_steps - FIRST < kMost ? kAt.q_steps - FIRST : kMost;
  float sum[kQm][2 * kCount][4];
  clear(sum);
  add_to_queries<FIRST, kCount>(w, d_s, k, sum);
#pragma unroll
  for (int i = 0; i < kQm; ++i) {
#pragma unroll
    for (int n = 0; n < 2 * kCount; ++n)
      reduce(to + (i * 2 * kAt.q_steps + 2 * FIRST + n) * 128 + w.lane * 4, sum[i][n]);
  }
  if constexpr (FIRST + kCount < kAt.q_steps) reduce_queries<FIRST + kCount>(w, d_s, k, to);
}

constexpr bool kDown = ATTN_DETERMINISTIC != 0;
constexpr int kWay = kDown ? -1 : 1;  // to the next query tile

// ---- kernels

// Elements d and d + 1 of a row of Dv; zeros where there are none.
__device__ inline unsigned pair(const Element* row, int d, bool there) {
  if (ATTN_ALIGNED) return there && d < ATTN_DV ? *reinterpret_cast<const unsigned*>(row + d) : 0;
  const unsigned low = there && d < ATTN_DV ? row[d].bits : 0, high = there && d + 1 < ATTN_DV ? row[d + 1].bits : 0;
  return low | high << 16;
}

// delta of 16 rows by a warp: the diagonal of dO O^T, by the very products that make dP of dO and V.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_bwd_rows(const Args a, const BackwardArgs g) {
  // @phase delta
  const int lane = threadIdx.x % 32;
  const int64 n = (int64{blockIdx.x} * kWarps + threadIdx.x / 32) * 16;  // of the first row: all 16 are of one head
  if (n >= a.B * a.Hq * g.rows) return;
  const int64 head = n / g.rows, r = n - head * g.rows + lane / 4;
  const int64 row = head * a.Lq + r;
  const Element* d_o = static_cast<const Element*>(g.d_o) + row * ATTN_DV;
  const Element* o = static_cast<const Element*>(g.o) + row * ATTN_DV;
  float upper[4] = {}, lower[4] = {};  // of the rows 0 to 7 of O, and 8 to 15
#pragma unroll 4
  for (int step = 0; step < kVSteps; ++step) {
    unsigned x[4], y[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int d = 16 * step + lane % 4 * 2 + i / 2 * 8, below = i % 2 * 8;
      x[i] = pair(d_o + below * ATTN_DV, d, r + below < a.Lq);
      y[i] = pair(o + below * ATTN_DV, d, r + below < a.Lq);
    }
    mma(upper, x, y[0], y[2]);
    mma(lower, x, y[1], y[3]);
  }
  // Row and column are the same in one lane of each four.
  const int diagonal = lane / 4;
  if (lane % 4 == diagonal / 2) {
    keep_row(a, g, n + diagonal, diagonal % 2 == 0 ? upper[0] : upper[1], kLog2E);
    keep_row(a, g, n + diagonal + 8, diagonal % 2 == 0 ? lower[2] : lower[3], kLog2E);
  }
  // @phase dQ
  float4* d_q = reinterpret_cast<float4*>(g.d_q_sum + n * kAt.d);
  for (int d = lane; d < 16 * kAt.d / 4; d += 32) d_q[d] = make_float4(0, 0, 0, 0);
#if ATTN_DETERMINISTIC
  if (lane == 0 && n == 0) g.turns[0] = 0;
  if (lane == 0 && n % ATTN_BR == 0) g.turns[1 + n / ATTN_BR] = 0;
#endif
}

extern "C" __global__ void __launch_bounds__(ATTN_THREADS, 1) flash_bwd_keys(const Args a, const BackwardArgs g) {
  extern __shared__ __align__(128) unsigned char shared[];
  // @phase setup
  const unsigned base = shared_address(shared);
  const unsigned tiles = static_cast<unsigned>((a.Lk + ATTN_BC - 1) / ATTN_BC);
#if ATTN_DETERMINISTIC
  const KeyTile mine =
      key_tile_of(take_ticket(g.turns, reinterpret_cast<int*>(shared)), tiles, static_cast<unsigned>(a.B * a.Hkv));
#else
  const KeyTile mine{blockIdx.x / tiles, blockIdx.x % tiles};
#endif
  const int64 kv = mine.kv, b = kv / a.Hkv, group = a.Hq / a.Hkv;
  const int64 first_head = b * a.Hq + (kv - b * a.Hkv) * group;
  const Warp w;
  Tile now{first_head, 0, int64{mine.tile} * ATTN_BC, key_length(a, first_head)};
  float d_k[kKm][2 * kAt.k_steps][4], d_v[kKm][2 * kAt.v_steps][4];
  clear(d_k);
  clear(d_v);

  // The query tiles that see some key of this one: of each head from `begin` on so many.
  int64 begin = 0, many = 0;
  if (now.c0 < now.length) {
    const int64 c_last = (now.c0 + ATTN_BC < now.length ? now.c0 + ATTN_BC : now.length) - 1;
    const int64 first = first_row(a, now.c0), last = last_row(a, now.length, c_last);
    begin = first / ATTN_BR;
    many = last > first ? (last + ATTN_BR - 1) / ATTN_BR - begin : 0;
  }
  const int64 turns = group * many;
  if (kDown) begin += many - 1;
  now.r0 = begin * ATTN_BR;
  int64 next_head = now.head, next_r0 = now.r0;  // of the tile that is fetched next
  const int64 end_r0 = (begin + kWay * many) * ATTN_BR;
  const auto fetch = [&](unsigned stage) {
    copy_queries(a, g, next_head, next_r0, base + kAt.ring_at + stage);
    next_r0 += kWay * ATTN_BR;
    if (next_r0 == end_r0) {
      next_r0 = begin * ATTN_BR;
      ++next_head;
    }
  };
  if (turns > 0) {
    copy_keys(a, kv, now.c0, now.length, base);
    if (ATTN_STAGES > 1) fetch(0);
    commit_copies();
  }

  // @phase loop
  unsigned stage = 0;
#if ATTN_DETERMINISTIC
  int told = 0;  // place in `turns` of the query tile before
  const auto place = [&] { return static_cast<int>(1 + now.head * (g.rows / ATTN_BR) + now.r0 / ATTN_BR); };
#endif
#pragma unroll 1
  for (int64 turn = 0; turn < turns; ++turn) {
    // @phase barrier
    if constexpr (ATTN_STAGES == 1) {
      __syncthreads();  // nobody reads the tiles before any more
      fetch(0);
      commit_copies();
    }
    wait_for_copies<0>();
    __syncthreads();  // the tile has come for all; P, dS and the other buffer are free
    if (ATTN_STAGES > 1 && turn + 1 < turns) fetch(stage == 0 ? kAt.stage : 0);
    commit_copies();
    const unsigned q = base + kAt.ring_at + stage, d_o = q + kAt.q_bytes;
#if ATTN_DETERMINISTIC
    const int seen = threadIdx.x == 32 ? added_to(g.turns + place()) : 0;
#endif
    make_tile(a, g, now, w, {q, base, d_o, base + kAt.k_bytes}, shared + kAt.p_at, shared + kAt.d_s_at);
    // @phase barrier
#if ATTN_DETERMINISTIC
    if (threadIdx.x == 0 && told != 0) tell_added(g.turns + told);  // by now its sums have come there
    told = place();
    if (threadIdx.x == 32) await_turn(g.turns + told, key_tiles_before(a, now.r0, mine.tile, ATTN_BC), seen);
#endif
    __syncthreads();  // P and dS are whole
    // @phase dV
    add_to_keys<kVWidth, kAt.v_steps>(w, base + kAt.p_at, d_o, d_v);
    // @phase dK
    add_to_keys<kDWidth, kAt.k_steps>(w, base + kAt.d_s_at, q, d_k);
    // @phase dQ
    const int64 tile = now.head * (g.rows / ATTN_BR) + now.r0 / ATTN_BR;
    reduce_queries<0>(w, base + kAt.d_s_at, base, g.d_q_sum + (tile * kWarps + w.number) * kFragments * 128);
    // @phase loop
    if (ATTN_STAGES > 1) stage = stage == 0 ? kAt.stage : 0;
    now.r0 += kWay * ATTN_BR;
    if (now.r0 == end_r0) {
      now.r0 = begin * ATTN_BR;
      ++now.head;
    }
  }
#if ATTN_DETERMINISTIC
  // @phase dQ
  __syncthreads();
  if (threadIdx.x == 0 && told != 0) tell_added(g.turns + told);
#endif
  // @phase store
  const int64 row0 = kv * a.Lk + now.c0 + w.k_row, rows = (kv + 1) * a.Lk;
  store<ATTN_D, kAt.k.across>(static_cast<Element*>(g.d_k), row0, rows, w.k_across, w.lane, a.scale, d_k);
  store<ATTN_DV, kAt.k.across>(static_cast<Element*>(g.d_v), row0, rows, w.k_across, w.lane, 1.0f, d_v);
}

// One thread has what a lane had of a fragment: two neighbours of two rows.
extern "C" __global__ void __launch_bounds__(ATTN_THREADS) flash_bwd_dq(const Args a, const BackwardArgs g) {
  // @phase dQ
  const int64 n = int64{blockIdx.x} * ATTN_THREADS + threadIdx.x;
  if (n >= a.B * a.Hq * g.rows * kAt.d / 4) return;
  const int lane = static_cast<int>(n % 32);
  const int64 of_fragment = n / 32;
  const int fragment = static_cast<int>(of_fragment % kFragments);
  const int64 of_warp = of_fragment / kFragments;
  const int warp = static_cast<int>(of_warp % kWarps);
  const int64 tile = of_warp / kWarps, tiles = g.rows / ATTN_BR, head = tile / tiles;
  const int i = fragment / (2 * kAt.q_steps), step = fragment % (2 * kAt.q_steps);
  const int d = 16 * (warp % kAt.q.across + kAt.q.across * (step / 2)) + 8 * (step % 2) + lane % 4 * 2;
  const int64 r = (tile - head * tiles) * ATTN_BR + warp / kAt.q.across * 16 * kQm + 16 * i + lane / 4;
  const float4 x = reinterpret_cast<const float4*>(g.d_q_sum)[n];
  // @phase store
  const float of_row[2][2] = {{x.x, x.y}, {x.z, x.w}};
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (r + 8 * h >= a.Lq) continue;
    Element* to = static_cast<Element*>(g.d_q) + (head * a.Lq + r + 8 * h) * ATTN_D;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      if (d + e < ATTN_D) to[d + e] = narrow(of_row[h][e] * a.scale);
    }
  }
}

}  // namespace attn::gpu
