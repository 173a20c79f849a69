// Shared memory of flash_splitkv, in bytes, and what a warp keeps in registers. Compiled by the program (how much to
// ask for) and by NVRTC (where things lie): one place, so the two cannot disagree.
//
//   line     sums of the warps' batches, and the batch that was found
//   sums     m and l of each warp's rows
//   Q        Br rows of D
//   rings    one a warp, of `stages`: a K tile (Bc rows of D) and a V tile (Bc rows of Dv) each
//   O        in the rings' place at the end of a batch: Br rows a warp in fp32, 32 bytes further apart than Dv asks, so
//            that the eight rows of a store lie in different banks
// Rows of Q, K and V are padded to whole steps of 16 elements; the chunks of a row are swizzled (mma_layout.h).
#pragma once

namespace attn::gpu {

struct SplitkvLayout {
  int warps, d, dv;     // D and Dv, padded
  bool q_in_registers;  // where S and O leave room; else Q's fragments are read again for every key tile
  int sums_at, q_at, rings_at, k_bytes, stage_bytes, ring_bytes, o_row, total;
};

constexpr SplitkvLayout splitkv_layout(int D, int Dv, int br, int bc, int threads, int stages) {
  constexpr int kLineBytes = 512, kUnit = 128;
  SplitkvLayout x{};
  x.warps = threads / 32;
  x.d = (D + 15) / 16 * 16;
  x.dv = (Dv + 15) / 16 * 16;
  x.q_in_registers = br / 16 * (x.d / 4 + x.dv / 2 + bc / 2) <= 128;
  x.sums_at = kLineBytes;
  x.q_at = x.sums_at + (x.warps * br * 8 + kUnit - 1) / kUnit * kUnit;
  x.rings_at = x.q_at + br * x.d * 2;
  x.k_bytes = bc * x.d * 2;
  x.stage_bytes = x.k_bytes + bc * x.dv * 2;
  x.ring_bytes = stages * x.stage_bytes;
  x.o_row = x.dv + 8;
  const int rings = x.warps * x.ring_bytes, out = x.warps * br * x.o_row * 4;
  x.total = x.rings_at + (rings > out ? rings : out);
  return x;
}

}  // namespace attn::gpu
