// Shared memory of flash_bwd_simt, in floats. Compiled by the program (how much to ask for) and by NVRTC (where things
// lie): one place, so the two cannot disagree.
//
//   K, V    a key tile, Bc rows each          Q, dO    a query tile, Br rows each
//   P, dS   Br rows of Bc keys                stats    what is taken from a row's scores, and delta: Br numbers each
// Rows of D and Dv are padded to whole 64 columns, 4 for each of 16 lanes, with zeros.
#pragma once

namespace attn::gpu {

constexpr int kFlashBwdSimtThreads = 256;  // 16 x 16

struct FlashBwdSimtLayout {
  int d, dv;                // D and Dv, padded
  int d_stride, dv_stride;  // + 4: rows that are read together lie in different banks
  int s_stride;             // + 16: the two rows that a warp writes together, too
  int k_at, v_at, q_at, d_o_at, p_at, d_s_at, shift_at, delta_at, total;
};

constexpr FlashBwdSimtLayout flash_bwd_simt_layout(int D, int Dv, int br, int bc) {
  FlashBwdSimtLayout x{};
  x.d = (D + 63) / 64 * 64;
  x.dv = (Dv + 63) / 64 * 64;
  x.d_stride = x.d + 4;
  x.dv_stride = x.dv + 4;
  x.s_stride = bc + 16;
  x.v_at = bc * x.d_stride;
  x.q_at = x.v_at + bc * x.dv_stride;
  x.d_o_at = x.q_at + br * x.d_stride;
  x.p_at = x.d_o_at + br * x.dv_stride;
  x.d_s_at = x.p_at + br * x.s_stride;
  x.shift_at = x.d_s_at + br * x.s_stride;
  x.delta_at = x.shift_at + br;
  x.total = x.delta_at + br;
  return x;
}

}  // namespace attn::gpu
