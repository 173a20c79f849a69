// The form in which keys are the rows of a tile: S^T = K Q^T and dP^T = V dO^T. A warp has 32 keys and all columns of
// their dK and dV. Its part of P^T, as the product leaves it, is the left factor of P^T dO; so is its part of dS^T that
// of dS^T Q: neither goes through memory (mma_layout.h, fragment_c). Only dS is stored, for dQ, where warps share
// queries.
//
// The warp walks its tile in strips of 32 queries: more scores at once would leave no registers beside dK and dV, which
// is also why this form ends at D = 64.
#pragma once

#include "kernels/gpu/flash_bwd_parts.cuh"

namespace attn::gpu {

static_assert(kKeysAreRows);
constexpr int kStrip = ATTN_BR < 32 ? ATTN_BR : 32;  // queries
constexpr int kStripSteps = kStrip / 16;
using Scores = float[kKm][2 * kStripSteps][4];  // of a strip, keys are rows
using Factors = unsigned[kKm][kStripSteps][4];  // the same, rounded: left factors

__device__ inline float2 shared_pair(unsigned at) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(at) : "memory");
  return x;
}

// The lane's places in a tile of WIDTH chunks a row, wherever it begins: one set serves all tiles of that width.
template <int WIDTH>
class Places {
 public:
  __device__ inline Places(unsigned base, unsigned lane) {
#pragma unroll
    for (int p = 0; p < kPlaces; ++p) at_[p] = base + (lane ^ static_cast<unsigned>(2 * kChunk * p));
  }
  // As in Pieces.
  __device__ inline unsigned at(int row, int step) const {
    return at_[step % kPlaces] + kChunk * (row * WIDTH + (2 * step & ~kMask));
  }

 private:
  static constexpr int kMask = swizzle_mask(WIDTH), kPlaces = (kMask + 1) / 2;
  unsigned at_[kPlaces];
};

// A query r of the tile sees its keys from r + first to r + last, the last not among them, and none from `end` on.
struct Window {
  int first, last, end;
};

__device__ inline void round_all(const Scores& s, Factors& x) {
#pragma unroll
  for (int i = 0; i < kKm; ++i) {
#pragma unroll
    for (int j = 0; j < kStripSteps; ++j) {
      x[i][j][0] = pack(s[i][2 * j][0], s[i][2 * j][1]);
      x[i][j][1] = pack(s[i][2 * j][2], s[i][2 * j][3]);
      x[i][j][2] = pack(s[i][2 * j + 1][0], s[i][2 * j + 1][1]);
      x[i][j][3] = pack(s[i][2 * j + 1][2], s[i][2 * j + 1][3]);
    }
  }
}

// sum += X Y of a strip: X from registers, Y of dO or Q, its rows.
template <int STEPS>
__device__ inline void add_to_keys(const Factors& x, const Places<kDWidth>& y, unsigned offset, int strip,
                                   float (&sum)[kKm][2 * STEPS][4]) {
#pragma unroll
  for (int j = 0; j < kStripSteps; ++j) {
#pragma unroll
    for (int n = 0; n < STEPS; ++n) {
      unsigned v[4];
      ldmatrix_transposed(v, y.at(kStrip * strip + 16 * j, n) + offset);
#pragma unroll
      for (int i = 0; i < kKm; ++i) {
        mma(sum[i][2 * n], x[i][j], v[0], v[1]);
        mma(sum[i][2 * n + 1], x[i][j], v[2], v[3]);
      }
    }
  }
}

class TileForm {
 public:
  __device__ inline TileForm(unsigned base, unsigned char* shared, const Warp& w)
      : base_(base),
        shared_(shared),
        lane_(w.lane),
        key0_(w.k_row),
        by_rows_(base, Pieces<kDWidth>::lane(ldmatrix_row(w.lane), ldmatrix_chunk(w.lane))),
        by_keys_(base, Pieces<kDWidth>::lane(ldmatrix_row_of_k(w.lane), ldmatrix_chunk_of_k(w.lane))),
        of_d_s_(base, Pieces<kSWidth>::lane(ldmatrix_row(w.lane), ldmatrix_chunk(w.lane))) {}

  // dS of a tile, to shared memory, and what the tile adds to dK and dV. Q and dO lie at `ring`.
  __device__ inline void make(const Args& a, const BackwardArgs&, const Tile& t, unsigned ring, SumsOfK& d_k,
                              SumsOfV& d_v) const {
    // @phase mask
    const Window w{near(t.r0 - t.c0 + a.first_shift), near(t.r0 - t.c0 + a.last_shift), near(t.length - t.c0)};
    const int key1 = key0_ + 16 * kKm;
    // Most tiles have nothing hidden: a path of its own for them keeps each condition of the mask out of it.
    if (w.end >= key1 && w.first + ATTN_BR - 1 <= key0_ && w.last >= key1) {
      make_strips<true>(a, w, ring, d_k, d_v);
    } else {
      make_strips<false>(a, w, ring, d_k, d_v);
    }
  }
  // They are added to already.
  __device__ inline void add(const Warp&, unsigned, SumsOfK&, SumsOfV&) const {}

 private:
  // WHOLE: nothing is hidden.
  template <bool WHOLE>
  __device__ inline void make_strips(const Args& a, const Window& w, unsigned ring, SumsOfK& d_k, SumsOfV& d_v) const {
#pragma unroll
    for (int strip = 0; strip < ATTN_BR / kStrip; ++strip) {
      // @phase mask
      const int q0 = strip * kStrip, key1 = key0_ + 16 * kKm;
      const bool whole = WHOLE || (w.end >= key1 && w.first + q0 + kStrip - 1 <= key0_ && w.last + q0 >= key1);
      const bool none = !WHOLE && (key0_ >= w.end || key1 <= w.first + q0 || key0_ >= w.last + q0 + kStrip - 1);
      Factors x;
      if (none) {
        // @phase dS
#pragma unroll
        for (int i = 0; i < kKm; ++i) {
#pragma unroll
          for (int j = 0; j < kStripSteps; ++j) x[i][j][0] = x[i][j][1] = x[i][j][2] = x[i][j][3] = 0;
        }
      } else {
        Scores s, d_p;
        // @phase S
        multiply(0, ring, strip, s);
        weigh(a.scale_log2, w, q0, base_ + ring + kAt.rows_at, whole, s);
        round_all(s, x);
        // @phase dV
        add_to_keys<kAt.v_steps>(x, by_rows_, ring + kAt.q_bytes, strip, d_v);
        // @phase dP
        multiply(kAt.k_bytes, ring + kAt.q_bytes, strip, d_p);
        // @phase dS
        turn_into_d_s(q0, base_ + ring + kAt.rows_at + ATTN_BR * 4, d_p, s);
        round_all(s, x);
      }
      // @phase dS
      keep(strip, x);
      // @phase dK
      if (!none) add_to_keys<kAt.k_steps>(x, by_rows_, ring, strip, d_k);
    }
  }

  // The warp's keys times the strip's queries: s = X Y^T; X is K or V, Y is Q or dO.
  __device__ inline void multiply(unsigned x, unsigned y, int strip, Scores& s) const {
    clear(s);
#pragma unroll
    for (int step = 0; step < kDSteps; ++step) {
      unsigned u[kKm][4];
#pragma unroll
      for (int i = 0; i < kKm; ++i) ldmatrix(u[i], by_rows_.at(16 * i, step) + x + kChunk * kDWidth * key0_);
#pragma unroll
      for (int n = 0; n < kStripSteps; ++n) {
        unsigned v[4];
        ldmatrix(v, by_keys_.at(kStrip * strip + 16 * n, step) + y);
#pragma unroll
        for (int i = 0; i < kKm; ++i) {
          mma(s[i][2 * n], u[i], v[0], v[1]);
          mma(s[i][2 * n + 1], u[i], v[2], v[3]);
        }
      }
    }
  }

  // P^T of S^T of queries from q0 on: exp2(scale S - LSE), 0 where the mask hides the key. `rows`: where LSE lies.
  __device__ inline void weigh(float scale, const Window& w, int q0, unsigned rows, bool whole, Scores& s) const {
    // @phase P
#pragma unroll
    for (int n = 0; n < 2 * kStripSteps; ++n) {
      const float2 shift = shared_pair(rows + (q0 + 8 * n + lane_ % 4 * 2) * 4);
#pragma unroll
      for (int i = 0; i < kKm; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) s[i][n][e] = exp2_fast(fmaf(s[i][n][e], scale, e % 2 == 0 ? -shift.x : -shift.y));
      }
    }
    // @phase mask
    if (whole) return;
#pragma unroll
    for (int i = 0; i < kKm; ++i) {
#pragma unroll
      for (int n = 0; n < 2 * kStripSteps; ++n) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int c = key0_ + 16 * i + 8 * (e / 2) + lane_ / 4, r = q0 + 8 * n + lane_ % 4 * 2 + e % 2;
          if (c - r < w.first || c - r >= w.last || c >= w.end) s[i][n][e] = 0;
        }
      }
    }
  }

  // s: P^T, then dS^T. `rows`: where delta lies.
  __device__ inline void turn_into_d_s(int q0, unsigned rows, const Scores& d_p, Scores& s) const {
#pragma unroll
    for (int n = 0; n < 2 * kStripSteps; ++n) {
      const float2 delta = shared_pair(rows + (q0 + 8 * n + lane_ % 4 * 2) * 4);
#pragma unroll
      for (int i = 0; i < kKm; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) s[i][n][e] *= d_p[i][n][e] - (e % 2 == 0 ? delta.x : delta.y);
      }
    }
  }

  // dS of a strip, [key][query].
  __device__ inline void keep(int strip, const Factors& x) const {
#pragma unroll
    for (int i = 0; i < kKm; ++i) {
#pragma unroll
      for (int j = 0; j < kStripSteps; ++j) {
#if __CUDA_ARCH__ >= 900
        const unsigned to = of_d_s_.at(16 * i, strip * kStripSteps + j) + kAt.d_s_at + kChunk * kSWidth * key0_;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x[i][j][0]),
                     "r"(x[i][j][1]), "r"(x[i][j][2]), "r"(x[i][j][3])
                     : "memory");
#else
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int row = key0_ + 16 * i + 8 * (e % 2) + lane_ / 4, chunk = 2 * (strip * kStripSteps + j) + e / 2;
          *reinterpret_cast<unsigned*>(shared_ + kAt.d_s_at + Swizzled<kSWidth>::at(row, chunk) + lane_ % 4 * 4) =
              x[i][j][e];
        }
#endif
      }
    }
  }

  unsigned base_;
  unsigned char* shared_;
  int lane_, key0_;  // its first key
  Places<kDWidth> by_rows_, by_keys_;
  Places<kSWidth> of_d_s_;
};

}  // namespace attn::gpu
