// Sums of dQ begin at zero. A pass over all of them before the first block would write them to device memory, and the
// first addition would read them back. Here each block zeroes a part of the sums of a head whose blocks begin about a
// wave later: they are still in the second-level cache when they are added to.
//
// `turns` is a list of numbers: the first is not used here; then, a head of keys each, how many blocks have zeroed
// their part. The first heads, and all numbers, are set by the launch before.
//
// A block waits for blocks with smaller numbers alone, and they wait for nobody before they have zeroed: the hardware
// starts blocks in the order of their numbers.
//
// Launches that start early (PTX ISA, griddepcontrol): what needs no result of the launch before comes before
// wait_for_launch_before().
#pragma once

#include "kernels/gpu/device.cuh"

namespace attn::gpu {

// Everything that the launch before has written can be read from here on.
__device__ __forceinline__ void wait_for_launch_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
// The launch after may start wherever there is room.
__device__ __forceinline__ void let_next_launch_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Heads of keys that lie between a block's and the one of whose sums it zeroes a part: about as many blocks as run at
// once.
__device__ __forceinline__ unsigned heads_ahead(unsigned tiles) {
  constexpr unsigned kBlocks = 144;
  return (kBlocks + tiles - 1) / tiles;
}

// By one warp of a block, the tile-th of its head's: every tiles-th 512 bytes of the sums of a head of keys further on,
// all its query heads.
__device__ __forceinline__ void zero_ahead(const Args& a, const BackwardArgs& g, unsigned kv, unsigned tile,
                                           unsigned tiles) {
  kv += heads_ahead(tiles);
  if (kv >= a.B * a.Hkv) return;
  const int64 fours = a.Hq / a.Hkv * g.rows * (ATTN_D / 4);
  float4* sums = reinterpret_cast<float4*>(g.d_q_sum) + kv * fours;
  const float4* const end = sums + fours;
  sums += tile * 32 + threadIdx.x % 32;
#pragma unroll 1
  for (; sums < end; sums += tiles * 32) *sums = make_float4(0, 0, 0, 0);
  __syncwarp();
  if (threadIdx.x % 32 != 0) return;
  __threadfence();
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(g.turns + 1 + kv) : "memory");
}

// By a thread that adds to the sums of a head of keys, by the copy engine: until all of them are zero.
__device__ __forceinline__ void await_zeros(const BackwardArgs& g, unsigned kv, unsigned tiles) {
  unsigned zeroed;
  do {
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(zeroed) : "l"(g.turns + 1 + kv) : "memory");
  } while (zeroed < tiles);
  __threadfence();
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

}  // namespace attn::gpu
