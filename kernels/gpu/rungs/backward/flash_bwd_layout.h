// Shared memory of flash_bwd, in bytes, and how its warps share a tile. Compiled by the program (how much to ask for)
// and by NVRTC (where things lie): one place, so the two cannot disagree.
//
//   K and V (Bc rows), P and dS (Br rows of Bc keys), then the ring: stages of Q and dO (Br rows)
// Where keys are the rows of a tile P is not there, dS is Bc rows of Br queries, and a stage ends with two numbers a
// row of Q: its LSE in base 2 and its delta.
// Rows are padded to whole steps of 16 elements, and to as many steps as warps lie side by side; the chunks of a row
// are swizzled (mma_layout.h).
//
// The warps lie down x across over each result: over S, P, dP and dS (Br x Bc) where queries are rows, over dK and dV
// (Bc x D), over dQ (Br x D). A warp has 16 * tiles rows of it. Of S it has neighbouring keys; of the others every
// across-th step of 16 columns.
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
  bool keys_are_rows;             // the form of the tile
  int k_bytes, v_bytes, q_bytes, d_o_bytes, s_bytes;
  int p_at, d_s_at, ring_at, rows_at, stage, total;
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

// Keys are rows: each warp has 32 of them, and dK and dV leave registers for their scores. flash_bwd.cu asks the same.
constexpr bool flash_bwd_keys_are_rows(int D, int Dv, int bc, int threads, bool changes_scores) {
  return D == Dv && D <= 64 && D % 8 == 0 && bc == threads && !changes_scores;
}

constexpr FlashBwdLayout flash_bwd_layout(int D, int Dv, int br, int bc, int threads, int stages, bool changes_scores) {
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
  x.keys_are_rows = flash_bwd_keys_are_rows(D, Dv, bc, threads, changes_scores);
  x.dv = x.keys_are_rows ? x.d : flash_bwd_padded(Dv, x.k.across);
  x.k_steps = x.d / 16 / x.k.across;
  x.v_steps = x.dv / 16 / x.k.across;
  x.q_steps = x.d / 16 / x.q.across;
  x.k_bytes = bc * x.d * 2;
  x.v_bytes = bc * x.dv * 2;
  x.q_bytes = br * x.d * 2;
  x.d_o_bytes = br * x.dv * 2;
  x.s_bytes = br * bc * 2;
  x.p_at = x.k_bytes + x.v_bytes;
  x.d_s_at = x.keys_are_rows ? x.p_at : x.p_at + x.s_bytes;  // P stays in registers
  x.ring_at = x.d_s_at + x.s_bytes;
  x.rows_at = x.q_bytes + x.d_o_bytes;
  x.stage = x.rows_at + (x.keys_are_rows ? 2 * br * 4 : 0);
  x.total = x.ring_at + stages * x.stage;
  return x;
}

}  // namespace attn::gpu
