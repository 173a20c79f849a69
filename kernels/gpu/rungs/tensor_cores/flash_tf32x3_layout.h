// Shared memory of flash_tf32x3, in bytes. Compiled by the program (how much to ask for) and by NVRTC (where things
// lie): one place, so the two cannot disagree.
//
//   Q        Br rows of D
//   stages   each a K tile (Bc rows of D) and a V tile (Bc rows of Dv)
//   P        where two warps share rows: of each warp its fragments
//   counters where two warps share rows: two for each stage (key_ring.cuh)
// Rows of fp32, those of Q and K padded to steps of 8, those of V to steps of 32 for each warp that shares its columns;
// the chunks of a row, four numbers each, are swizzled (mma_layout.h).
//
// Two warps share 32 rows where one would have 16, O is wider than 64 columns and its columns, D and the key tile are
// multiples of 32: each takes half of the keys of S and half of the columns of O.
#pragma once

namespace attn::gpu {

struct FlashTf32x3Layout {
  int sharers;    // warps that share their rows: 1 or 2
  int row_tiles;  // tiles of 16 rows a warp: a fragment of K or V is split once for them all
  int d, dv;      // D and Dv, padded
  int blocks;     // a multiprocessor shall hold: what the registers allow
  int stages_at, k_bytes, stage_bytes;
  int p_at, p_bytes;  // `p_bytes`: of a warp's P
  int counters_at, total;
};

// Whether two warps can share their rows.
constexpr bool flash_tf32x3_pairs(int D, int Dv) {
  return (D > 64 || Dv > 64) && D % 32 == 0 && Dv % 32 == 0;
}

constexpr FlashTf32x3Layout flash_tf32x3_layout(int D, int Dv, int br, int bc, int threads, int stages) {
  FlashTf32x3Layout x{};
  const int warps = threads / 32;
  x.sharers = flash_tf32x3_pairs(D, Dv) && warps * 16 == br && br % 32 == 0 && bc % 32 == 0 ? 2 : 1;
  x.row_tiles = br / (warps / x.sharers) / 16;
  x.d = (D + 7) / 8 * 8;
  x.dv = (Dv + 32 * x.sharers - 1) / (32 * x.sharers) * (32 * x.sharers);
  x.blocks = threads >= 256 ? 1 : 256 / threads;
  x.stages_at = br * x.d * 4;
  x.k_bytes = bc * x.d * 4;
  x.stage_bytes = x.k_bytes + bc * x.dv * 4;
  x.p_at = x.stages_at + stages * x.stage_bytes;
  x.p_bytes = x.sharers == 1 ? 0 : 16 * x.row_tiles * bc / x.sharers * 4;
  x.counters_at = x.p_at + warps * x.p_bytes;
  x.total = x.counters_at + (x.sharers == 1 ? 0 : 16 * stages);
  return x;
}

}  // namespace attn::gpu
