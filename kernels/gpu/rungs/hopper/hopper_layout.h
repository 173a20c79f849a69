// Where things lie in the shared memory of flash_hopper, in bytes, and what a block is made of. Compiled by the program
// (how much to ask for) and by NVRTC (where things lie): one place, so the two cannot disagree.
//
//   1 KiB      barriers, and the number of the tile at work
//   Q          `queries` buffers a consumer, each 64 rows of the wider of D and Dv: O leaves through the same rows
//   ring       `slots` tiles of `keys` rows, K and V in turn
// A tile is panels of 64 columns, 128 bytes a row, each on a multiple of 1024 bytes (hopper_descriptor.cuh).
#pragma once

namespace attn::gpu {

struct HopperLayout {
  int consumers;                      // warpgroups of 64 query rows
  int d_panels, v_panels;             // panels of 64 columns of Q and K, of V and O
  int registers, producer_registers;  // of a consumer's thread, of a producer's
  int query_bytes, slot_bytes;
  int queries_at, ring_at, total;  // from the beginning of dynamic shared memory
};

// Registers that a block of so many warpgroups shares out: 64 Ki in all, in steps of 8, 24 at least.
constexpr HopperLayout hopper_layout(int D, int Dv, int keys, int consumers, int slots, int queries) {
  HopperLayout x{};
  x.consumers = consumers;
  x.d_panels = (D + 63) / 64;
  x.v_panels = (Dv + 63) / 64;
  x.registers = consumers == 4 ? 112 : consumers == 3 ? 160 : consumers == 2 ? 232 : 240;
  x.producer_registers = consumers == 4 ? 32 : consumers == 3 ? 32 : 40;
  const int panels = x.d_panels > x.v_panels ? x.d_panels : x.v_panels;
  x.query_bytes = 64 * 128 * panels;
  x.slot_bytes = keys * 128 * panels;
  x.queries_at = 1024;
  x.ring_at = x.queries_at + consumers * queries * x.query_bytes;
  x.total = x.ring_at + slots * x.slot_bytes;
  return x;
}

}  // namespace attn::gpu
