// Shared memory of flash_bwd, in bytes, and how its warps share a tile. Compiled by the program (how much to ask for)
// and by NVRTC (where things lie): one place, so the two cannot disagree.
//
//   K and V (Bc rows), P and dS (Br rows of Bc keys), then the ring: stages of Q and dO (Br rows)
// Rows are padded to whole steps of 16 elements, and to as many steps as warps lie side by side; the chunks of a row
// are swizzled (mma_layout.h).
//
// The warps lie down x across over each result: over S, P, dP and dS (Br x Bc), over dK and dV (Bc x D), over dQ
// (Br x D). A warp has 16 * tiles rows of it. Of S it has neighbouring keys; of the others every across-th step of 16
// columns.
#pragma once

namespace attn::gpu {

struct FlashBwdShare {
  int tiles, down, across;
};

struct FlashBwdLayout {
  FlashBwdShare s, k, q;
  bool fits;                      // whole tiles for each warp
  int warp_keys;                  // of S
  int d, dv;                      // D and Dv, padded
  int k_steps, v_steps, q_steps;  // of 16 columns that a warp has of dK, dV and dQ
  int k_bytes, v_bytes, q_bytes, d_o_bytes, s_bytes;
  int p_at, d_s_at, ring_at, stage, total;
};

// Two tiles of 16 rows a warp where as many warps are left for the columns: a fragment read then serves two products.
constexpr FlashBwdShare flash_bwd_share(int rows, int warps, int least_across, int most_across) {
  FlashBwdShare x{};
  for (int tiles = 2; tiles >= 1; --tiles) {
    if (rows % (16 * tiles) != 0) continue;
    x.tiles = tiles;
    x.down = rows / (16 * tiles);
    x.across = x.down > 0 && warps % x.down == 0 ? warps / x.down : 0;
    if (x.across >= least_across && x.across <= most_across) break;
  }
  return x;
}

constexpr int flash_bwd_padded(int columns, int steps) {
  return (columns + 16 * steps - 1) / (16 * steps) * (16 * steps);
}

constexpr bool is_power_of_two(int n) {
  return n > 0 && (n & (n - 1)) == 0;
}

constexpr FlashBwdLayout flash_bwd_layout(int D, int Dv, int br, int bc, int threads, int stages) {
  FlashBwdLayout x{};
  const int warps = threads / 32;
  x.s = flash_bwd_share(br, warps, 1, bc / 16);
  x.k = flash_bwd_share(bc, warps, 1, 8);
  x.q = flash_bwd_share(br, warps, 1, 8);
  x.fits = is_power_of_two(br) && is_power_of_two(bc) && is_power_of_two(x.s.across) && x.s.across <= bc / 16 &&
           is_power_of_two(x.k.across) && x.k.across <= 8 && is_power_of_two(x.q.across) && x.q.across <= 8;
  if (!x.fits) return x;
  x.warp_keys = bc / x.s.across;
  x.d = flash_bwd_padded(D, x.k.across > x.q.across ? x.k.across : x.q.across);
  x.dv = flash_bwd_padded(Dv, x.k.across);
  x.k_steps = x.d / 16 / x.k.across;
  x.v_steps = x.dv / 16 / x.k.across;
  x.q_steps = x.d / 16 / x.q.across;
  x.k_bytes = bc * x.d * 2;
  x.v_bytes = bc * x.dv * 2;
  x.q_bytes = br * x.d * 2;
  x.d_o_bytes = br * x.dv * 2;
  x.s_bytes = br * bc * 2;
  x.p_at = x.k_bytes + x.v_bytes;
  x.d_s_at = x.p_at + x.s_bytes;
  x.ring_at = x.d_s_at + x.s_bytes;
  x.stage = x.q_bytes + x.d_o_bytes;
  x.total = x.ring_at + stages * x.stage;
  return x;
}

}  // namespace attn::gpu
