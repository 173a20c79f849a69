// Shared memory of flash_mma, in bytes, and what a warp keeps in registers. Compiled by the program (how much to ask
// for) and by NVRTC (where things lie): one place, so the two cannot disagree.
//
//   Q        Br rows of D; at the end O, Br rows of Dv, from the same beginning
//   stages   each a K tile (Bc rows of D) and a V tile (Bc rows of Dv)
// Rows are padded to whole steps of 16 elements; the chunks of a row are swizzled (mma_layout.h).
#pragma once

namespace attn::gpu {

struct FlashMmaLayout {
  int row_tiles;        // tiles of 16 rows a warp: one fragment of K or V serves them all
  int d, dv;            // D and Dv, padded
  bool q_in_registers;  // where S and O leave room; else Q's fragments are read again for every key tile
  int blocks;           // a multiprocessor shall hold: what the registers allow
  int stages_at, k_bytes, stage_bytes, total;
};

constexpr FlashMmaLayout flash_mma_layout(int D, int Dv, int br, int bc, int threads, int stages) {
  FlashMmaLayout x{};
  x.row_tiles = br / (threads / 32) / 16;
  x.d = (D + 15) / 16 * 16;
  x.dv = (Dv + 15) / 16 * 16;
  const int q_registers = x.row_tiles * x.d / 4, s_registers = x.row_tiles * bc / 2;
  const int o_registers = x.row_tiles * x.dv / 2;
  x.q_in_registers = q_registers + s_registers + o_registers <= 160;
  x.blocks = threads >= 256 ? 1 : 256 / threads;
  x.stages_at = br * x.d * 2;
  x.k_bytes = bc * x.d * 2;
  x.stage_bytes = x.k_bytes + bc * x.dv * 2;
  x.total = x.stages_at + stages * x.stage_bytes;
  const int out = br * x.dv * 2;
  if (x.total < out) x.total = out;
  return x;
}

}  // namespace attn::gpu
