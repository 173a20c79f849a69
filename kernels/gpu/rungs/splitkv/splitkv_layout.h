// Shared memory of flash_splitkv, in bytes, and what a warp keeps in registers. Compiled by the program (how much to
// ask for) and by NVRTC (where things lie): one place, so the two cannot disagree.
//
//   line      sums of the warps' batches, the batch that was found, and where O of each warp lies
//   sums      m and l of each warp's rows
//   Q         of each warp, by itself: Br rows of D
//   rings     one a warp, of `stages`: a K tile (Bc rows of D) and a V tile (Bc rows of Dv) each
//   O         at the end of a batch, Br rows of a warp in fp32: in the place of its ring that is free then, or, where
//             that is too small, behind the rings. The eight rows of a store lie in different banks: in the ring the
//             columns of a row change places, elsewhere rows lie 32 bytes further apart than Dv asks
// Rows of Q, K and V are padded to whole steps of 16 elements; the chunks of a row are swizzled (mma_layout.h).
#pragma once

namespace attn::gpu {

struct SplitkvLayout {
  int warps, d, dv;     // D and Dv, padded
  bool q_in_registers;  // where S and O leave room; else Q is read again for every key tile
  bool o_in_ring;
  int places_at, sums_at, q_at, q_bytes, rings_at, k_bytes, stage_bytes, ring_bytes;
  int o_at, o_row;  // behind the rings; a row in fp32s
  int total;
};

// `element`: bytes of a number of Q, K and V.
constexpr SplitkvLayout splitkv_layout(int D, int Dv, int element, int br, int bc, int threads, int stages) {
  constexpr int kLineBytes = 512, kUnit = 128;
  SplitkvLayout x{};
  x.warps = threads / 32;
  x.d = (D + 15) / 16 * 16;
  x.dv = (Dv + 15) / 16 * 16;
  x.q_in_registers = element == 2 && br / 16 * (x.d / 4 + x.dv / 2 + bc / 2) <= 128;
  x.places_at = kLineBytes - kUnit;
  x.sums_at = kLineBytes;
  x.q_at = x.sums_at + (x.warps * br * 8 + kUnit - 1) / kUnit * kUnit;
  x.q_bytes = br * x.d * element;
  x.rings_at = x.q_at + x.warps * x.q_bytes;
  x.k_bytes = bc * x.d * element;
  x.stage_bytes = x.k_bytes + bc * x.dv * element;
  x.ring_bytes = stages * x.stage_bytes;
  x.o_in_ring = x.dv % 32 == 0 && br * x.dv * 4 <= x.stage_bytes;
  x.o_row = x.o_in_ring ? x.dv : x.dv + 8;
  x.o_at = x.rings_at + x.warps * x.ring_bytes;
  x.total = x.o_at + (x.o_in_ring ? 0 : x.warps * br * x.o_row * 4);
  return x;
}

}  // namespace attn::gpu
