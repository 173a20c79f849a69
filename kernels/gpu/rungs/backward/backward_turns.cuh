// dQ in one order: blocks of one head add their key tiles one after the other.
//
// `turns` is a list of numbers, 0 at first: how many blocks have begun; then, a query tile each, how many have added to
// it. A block waits until all before it have. Those have smaller tickets, so they have begun and can end whatever else
// runs on the device.
#pragma once

#include "kernels/gpu/device.cuh"

namespace attn::gpu {

// A key tile of a head of keys.
struct KeyTile {
  unsigned kv, tile;
};

#if ATTN_DETERMINISTIC
// The n-th block to begin; all threads of it ask.
__device__ inline unsigned take_ticket(int* tickets, int* shared) {
  if (threadIdx.x == 0) *shared = atomicAdd(tickets, 1);
  __syncthreads();
  const unsigned n = static_cast<unsigned>(*shared);
  __syncthreads();
  return n;
}

// Heads side by side, so that few blocks of one wait for each other at a time; their first key tiles first: those wait
// for nobody, and under a causal mask they take longest.
__device__ inline KeyTile key_tile_of(unsigned ticket, unsigned tiles, unsigned heads) {
  constexpr unsigned kLeast = 8, kMost = 64, kBlocks = 512;
  const unsigned fit = kBlocks / tiles, side = fit < kLeast ? kLeast : fit > kMost ? kMost : fit;
  const unsigned first = ticket / (side * tiles) * side, rest = ticket - first * tiles;
  const unsigned together = heads - first < side ? heads - first : side;
  return {first + rest % together, rest / together};
}

__device__ inline int added_to(const int* turns) {
  int n;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(n) : "l"(turns) : "memory");
  return n;
}
// By one thread; those whose sums follow wait for it. `seen`: what it read there before.
__device__ inline void await_turn(const int* turns, int before, int seen = -1) {
  while (seen < before) seen = added_to(turns);
  __threadfence();
}
// By one thread, when the sums of all whom it speaks for have arrived.
__device__ inline void tell_added(int* turns) {
  __threadfence();
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(turns) : "memory");
}
// How many key tiles before this one see some row of the query tile.
__device__ inline int key_tiles_before(const Args& a, int64 r0, unsigned tile, int keys) {
  return static_cast<int>(tile - first_key(a, r0) / keys);
}
#endif

}  // namespace attn::gpu
