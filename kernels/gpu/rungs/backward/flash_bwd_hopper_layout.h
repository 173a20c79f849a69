// Shared memory of flash_bwd_hopper, in bytes. Compiled by the program (how much to ask for) and by NVRTC (where things
// lie): one place, so the two cannot disagree.
//
//   1 KiB      barriers, and the number of the block
//   K, V       128 rows each
//   ring       two stages of Q and dO, a tile of queries each
//   rows       of each stage LSE and delta
//   dS         four tiles of 128 keys by 64 queries, or three by 128
//   dQ         a tile of queries in fp32, as they leave
// A tile is panels of 64 columns, 128 bytes a row, each on a multiple of 1024 bytes (hopper_descriptor.cuh).
#pragma once

namespace attn::gpu {

struct FlashBwdHopperLayout {
  int panels;                              // of 64 columns
  int queries;                             // of a tile
  int buffers;                             // of dS
  int key_bytes, query_bytes, sums_bytes;  // of K or V, of Q or dO, of dQ
  int k_at, v_at, ring_at, rows_at, d_s_at, d_q_at, total;
};

constexpr int kBwdKeys = 128, kBwdStages = 2, kBwdThreads = 384;
constexpr int kBwdRegisters = 240, kBwdProducerRegisters = 24;

// dK, dV, S, dP and dQ of a warpgroup lie in registers: the wider a head, the fewer queries at a time.
constexpr int flash_bwd_hopper_queries(int D) {
  return D <= 64 ? 128 : 64;
}

constexpr FlashBwdHopperLayout flash_bwd_hopper_layout(int D) {
  FlashBwdHopperLayout x{};
  x.panels = D / 64;
  x.queries = flash_bwd_hopper_queries(D);
  x.buffers = x.queries == 64 ? 4 : 3;
  x.key_bytes = kBwdKeys * D * 2;
  x.query_bytes = x.queries * D * 2;
  x.sums_bytes = x.queries * D * 4;
  x.k_at = 1024;
  x.v_at = x.k_at + x.key_bytes;
  x.ring_at = x.v_at + x.key_bytes;
  x.d_s_at = x.ring_at + kBwdStages * 2 * x.query_bytes;
  x.d_q_at = x.d_s_at + x.buffers * kBwdKeys * x.queries * 2;
  x.rows_at = x.d_q_at + x.sums_bytes;
  x.total = x.rows_at + kBwdStages * 2 * x.queries * 4;
  return x;
}

}  // namespace attn::gpu
