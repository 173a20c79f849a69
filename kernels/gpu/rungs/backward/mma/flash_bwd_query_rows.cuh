// The form in which queries are the rows of a tile: S, P, dP and dS are Br x Bc. P and dS go through shared memory, for
// there each warp finds the part that its share of a product wants: dS as it stands for dQ, both transposed by ldmatrix
// for dV and dK. It takes every head dimension, tile and bias.
#pragma once

#include "kernels/gpu/flash_bwd_parts.cuh"

namespace attn::gpu {

static_assert(!kKeysAreRows);
constexpr int kSm = kAt.s.tiles, kSn = kAt.warp_keys / 16;
using Scores = float[kSm][2 * kSn][4];  // a warp's share of a tile: fragments of 16 x 8

// Its first row and key of S.
struct Place {
  int s_row, s_key, lane;
};

// X Y^T of the warp's rows of X and of Y; both lie in rows of WIDTH chunks.
template <int WIDTH, int STEPS>
__device__ inline void multiply_rows(const Place& w, unsigned x, unsigned y, Scores& s) {
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

// P of S: exp2(scale S - LSE), 0 where the mask hides the key. `shift`: of the lane's rows, in base 2.
__device__ inline void weigh(const Args& a, const Tile& t, const Place& w, const float (&shift)[kSm][2],
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
__device__ inline void keep(const Place& w, unsigned char* to, const Scores& s) {
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

class TileForm {
 public:
  __device__ inline TileForm(unsigned base, unsigned char* shared, const Warp& w)
      : base_(base),
        shared_(shared),
        place_{w.number / kAt.s.across * 16 * kSm, w.number % kAt.s.across * kAt.warp_keys, w.lane} {}

  // P and dS of a tile, to shared memory. Q and dO lie at `ring`.
  __device__ inline void make(const Args& a, const BackwardArgs& g, const Tile& t, unsigned ring, SumsOfK&,
                              SumsOfV&) const {
    // @phase delta
    float shift[kSm][2], delta[kSm][2];
    const int64 row0 = t.head * g.rows + t.r0 + place_.s_row + place_.lane / 4;
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
    multiply_rows<kDWidth, kDSteps>(place_, base_ + ring, base_, s);
    weigh(a, t, place_, shift,
          slopes,  // @score
          s);
    // @phase P
    // Always: but the branch holds ptxas back from mixing this with dP, and spilling.
    if (shared_ != nullptr) keep(place_, shared_ + kAt.p_at, s);
    // @phase dP
    multiply_rows<kVWidth, kVSteps>(place_, base_ + ring + kAt.q_bytes, base_ + kAt.k_bytes, d_p);
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
    keep(place_, shared_ + kAt.d_s_at, s);
  }
  // What a tile adds to dK and dV, once P and dS are whole.
  __device__ inline void add(const Warp& w, unsigned ring, SumsOfK& d_k, SumsOfV& d_v) const {
    // @phase dV
    add_to_keys<kVWidth, kAt.v_steps>(w, base_ + kAt.p_at, base_ + ring + kAt.q_bytes, d_v);
    // @phase dK
    add_to_keys<kDWidth, kAt.k_steps>(w, base_ + kAt.d_s_at, base_ + ring, d_k);
  }

 private:
  unsigned base_;
  unsigned char* shared_;
  Place place_;
};

}  // namespace attn::gpu
