// What both forms of flash_bwd share: a tile's measures, a warp's share of the results, copies, how dK and dV leave.
#pragma once

#include "kernels/gpu/backward.cuh"
#include "kernels/gpu/flash_bwd_layout.h"
#include "kernels/gpu/mma.cuh"
#include "kernels/gpu/tile_copy.cuh"

namespace attn::gpu {

constexpr FlashBwdLayout kAt =
    flash_bwd_layout(ATTN_D, ATTN_DV, ATTN_BR, ATTN_BC, ATTN_THREADS, ATTN_STAGES, ATTN_BIAS != 0);
static_assert(kAt.fits);
constexpr bool kKeysAreRows = kAt.keys_are_rows;
constexpr int kDWidth = kAt.d / 8, kVWidth = kAt.dv / 8;                    // chunks of a row
constexpr int kSWidth = kKeysAreRows ? ATTN_BR / 8 : ATTN_BC / 8;           // the same of dS
constexpr int kDSteps = (ATTN_D + 15) / 16, kVSteps = (ATTN_DV + 15) / 16;  // of 16 along D and Dv
constexpr int kKm = kAt.k.tiles, kQm = kAt.q.tiles;
constexpr int kWarps = ATTN_THREADS / 32;
constexpr int kFragments = kQm * 2 * kAt.q_steps;  // of a warp's part of dQ

using CopyQ = TileCopy<ATTN_BR, ATTN_D, kDWidth, Swizzled<kDWidth>>;
using CopyO = TileCopy<ATTN_BR, ATTN_DV, kVWidth, Swizzled<kVWidth>>;
using CopyK = TileCopy<ATTN_BC, ATTN_D, kDWidth, Swizzled<kDWidth>>;
using CopyV = TileCopy<ATTN_BC, ATTN_DV, kVWidth, Swizzled<kVWidth>>;

using SumsOfK = float[kKm][2 * kAt.k_steps][4];  // what a warp has of dK, and of dV
using SumsOfV = float[kKm][2 * kAt.v_steps][4];

// A value that all lanes of the warp have alike, said so.
__device__ inline int uniform(int x) {
  return __shfl_sync(0xffffffffu, x, 0);
}

// What this warp has of dK, dV and dQ.
struct Warp {
  int number, lane;
  int k_row, k_across;  // its first key of dK and dV, its place among the warps side by side
  int q_row, q_across;  // its first row of dQ, and the same

  __device__ inline Warp() {
    number = uniform(static_cast<int>(threadIdx.x) / 32);
    lane = threadIdx.x % 32;
    k_row = number / kAt.k.across * 16 * kKm;
    k_across = number % kAt.k.across;
    q_row = number / kAt.q.across * 16 * kQm;
    q_across = number % kAt.q.across;
  }
};

// A tile's place: its first row and key, of which head, and how many keys the batch has.
struct Tile {
  int64 head, r0, c0, length;
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

// ---- sums

template <int M, int N>
__device__ inline void clear(float (&sum)[M][N][4]) {
#pragma unroll
  for (int i = 0; i < M; ++i) {
#pragma unroll
    for (int n = 0; n < N; ++n) sum[i][n][0] = sum[i][n][1] = sum[i][n][2] = sum[i][n][3] = 0;
  }
}

// The warp's rows of a matrix of WIDTH columns: from `row0` on those below `rows`.
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

}  // namespace attn::gpu
