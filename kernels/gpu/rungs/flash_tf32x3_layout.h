// Shared memory of flash_tf32x3, in bytes. Compiled by the program (how much to ask for) and by NVRTC (where things
// lie): one place, so the two cannot disagree.
//
//   Q        Br rows of D
//   stages   each a K tile (Bc rows of D) and a V tile (Bc rows of Dv)
// Rows of fp32, those of Q and K padded to steps of 8, those of V to steps of 32; the chunks of a row, four numbers
// each, are swizzled (mma_layout.h).
#pragma once

namespace attn::gpu {

struct FlashTf32x3Layout {
  int row_tiles;  // tiles of 16 rows a warp: a fragment of K or V is split once for them all
  int d, dv;      // D and Dv, padded
  int blocks;     // a multiprocessor shall hold: what the registers allow
  int stages_at, k_bytes, stage_bytes, total;
};

constexpr FlashTf32x3Layout flash_tf32x3_layout(int D, int Dv, int br, int bc, int threads, int stages) {
  FlashTf32x3Layout x{};
  x.row_tiles = br / (threads / 32) / 16;
  x.d = (D + 7) / 8 * 8;
  x.dv = (Dv + 31) / 32 * 32;
  x.blocks = threads >= 256 ? 1 : 256 / threads;
  x.stages_at = br * x.d * 4;
  x.k_bytes = bc * x.d * 4;
  x.stage_bytes = x.k_bytes + bc * x.dv * 4;
  x.total = x.stages_at + stages * x.stage_bytes;
  return x;
}

}  // namespace attn::gpu
