// Shared memory of flash_wmma, in bytes. Compiled by the program (how much to ask for) and by NVRTC (where things lie):
// one place, so the two cannot disagree.
//
//   Q   Br rows of D
//   K   Bc rows of D        V   Bc rows of Dv
//   S   Br rows of Bc, fp32; P lies over it, row by row, in the input's type
//   a factor for each row
// WMMA takes a tile by a pointer and the distance of its rows, so a swizzle is not to be had: each row is 16 bytes
// longer than its elements, and rows that are read together begin in different banks.
#pragma once

namespace attn::gpu {

struct FlashWmmaLayout {
  int row_tiles;                     // of 16 rows a warp
  int d, dv;                         // D and Dv, padded to 16
  int q_stride, v_stride, s_stride;  // elements of 2, 2 and 4 bytes from row to row
  int k_at, v_at, s_at, factors_at, total;
};

constexpr FlashWmmaLayout flash_wmma_layout(int D, int Dv, int br, int bc, int threads) {
  FlashWmmaLayout x{};
  x.row_tiles = br / (threads / 32) / 16;
  x.d = (D + 15) / 16 * 16;
  x.dv = (Dv + 15) / 16 * 16;
  x.q_stride = x.d + 8;
  x.v_stride = x.dv + 8;
  x.s_stride = bc + 4;
  x.k_at = br * x.q_stride * 2;
  x.v_at = x.k_at + bc * x.q_stride * 2;
  x.s_at = x.v_at + bc * x.v_stride * 2;
  x.factors_at = x.s_at + br * x.s_stride * 4;
  x.total = x.factors_at + br * 4;
  return x;
}

}  // namespace attn::gpu
