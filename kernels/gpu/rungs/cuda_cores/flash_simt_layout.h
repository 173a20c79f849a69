// Shared memory of flash_simt, in floats. Compiled by the program (how much to ask for) and by NVRTC (where things
// lie): one place, so the two cannot disagree.
//
//   Q        Br rows of q_stride
//   stages   two buffers; a chunk is K: Bc keys x 32 dimensions, or V: v_keys keys x all dimensions
//   P        one small tile a warp: what its 16 lanes of a row show each other
#pragma once

namespace attn::gpu {

struct FlashSimtLayout {
  int rows_a_thread;  // a warp has twice as many rows; 16 lanes share a row
  int q_columns;      // D rounded up to whole chunks
  int q_stride;       // + 4: rows that are read together lie in different banks
  int k_depth;        // dimensions of a K chunk
  int k_stride;
  int v_columns;  // Dv rounded up to 64: 16 lanes x 4
  int v_keys;     // keys of a V chunk
  int p_stride;   // an odd multiple of 16: the two rows that a warp writes together lie in different banks
  int stage;      // floats of one buffer
  int stages_at, p_at, total;
};

constexpr FlashSimtLayout flash_simt_layout(int D, int Dv, int br, int bc, int threads) {
  FlashSimtLayout x{};
  x.rows_a_thread = 16 * br / threads;
  x.k_depth = 32;
  x.q_columns = (D + x.k_depth - 1) / x.k_depth * x.k_depth;
  x.q_stride = x.q_columns + 4;
  x.k_stride = x.k_depth + 4;
  x.v_columns = (Dv + 63) / 64 * 64;
  x.v_keys = x.v_columns <= 128 && bc % 32 == 0 ? 32 : 16;
  x.p_stride = x.v_keys == 32 ? 48 : 16;
  const int k_chunk = bc * x.k_stride, v_chunk = x.v_keys * x.v_columns;
  x.stage = k_chunk > v_chunk ? k_chunk : v_chunk;
  x.stages_at = br * x.q_stride;
  x.p_at = x.stages_at + 2 * x.stage;
  x.total = x.p_at + br * x.p_stride;
  return x;
}

}  // namespace attn::gpu
