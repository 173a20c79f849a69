// Which query tile comes next, and which keys it sees. There is one block a multiprocessor, and it stays: it takes tiles
// from a counter until none is left, so that nobody waits for the slowest of a wave.
//
// Order. Heads are walked in sections, whose K and V stay in L2 together; within a section every head's tile of the same
// place in turn. The last rows come first: under a mask they see most, and the short tiles fill the end.
// Rows. A head's pieces of 64 rows are shared out evenly: 1024 rows in 6 tiles are 128 128 192 192 192 192.
#pragma once

#include "kernels/gpu/hopper_block.cuh"

namespace attn::gpu {

// Row r of a packed head is query r / PACK of head r % PACK (hopper_args.h).
__device__ __forceinline__ int query_of(int row) {
  return static_cast<int>(static_cast<unsigned>(row) / ATTN_PACK);
}

struct Work {
  int row, pieces;  // first row, pieces of 64 rows
  int of_all;       // packed head, counted over the batches
  int first, last;  // key tiles [first, last)
  int length;       // keys of the batch

  __device__ __forceinline__ Work(const HopperArgs& a, int tile) {
    // @phase loop
    const int all = (a.rows + 63) / 64, each = all / a.tiles, more = all % a.tiles;
    const int group = a.tiles * a.section, within = tile % group;
    const int nth = within / a.section, place = kLastFirst ? a.tiles - 1 - nth : nth;
    const int larger = max(0, place - (a.tiles - more));
    of_all = tile / group * a.section + within % a.section;
    row = 64 * (place * each + larger);
    pieces = each + (place >= a.tiles - more ? 1 : 0);
    length = a.Lk;
    if (a.key_lengths != nullptr) length = static_cast<int>(a.key_lengths[batch(a)]);
    first = kCutBefore ? max(0, query_of(row) + a.first_shift) / ATTN_BC : 0;
    const int end = min(length, query_of(min(row + 64 * pieces, a.rows) - 1) + a.last_shift);
    last = (max(end, 0) + ATTN_BC - 1) / ATTN_BC;
    if (kOverlapped) last = max(last, first + 1);  // that loop knows no tile without keys: one that all rows hide
  }
  __device__ __forceinline__ int batch(const HopperArgs& a) const { return of_all / a.heads; }
  __device__ __forceinline__ int head(const HopperArgs& a) const { return of_all % a.heads; }  // of its batch
};

// ---- the tile's number, from the thread that takes it to all others of the block: two places in turn.

struct Board {
  int turn = 0;

  __device__ __forceinline__ static unsigned full(int turn) { return Shared::board_full + 8 * (turn & 1); }
  __device__ __forceinline__ static unsigned empty(int turn) { return Shared::board_empty + 8 * (turn & 1); }
  __device__ __forceinline__ void write(int tile) {
    barrier_wait(empty(turn), (turn >> 1 & 1) ^ 1);
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(Shared::board + 4 * (turn & 1)), "r"(tile) : "memory");
    barrier_arrive(full(turn));
    ++turn;
  }
  __device__ __forceinline__ int come() const {
    int tile;
    barrier_wait(full(turn), turn >> 1 & 1);
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(tile) : "r"(Shared::board + 4 * (turn & 1)) : "memory");
    return tile;
  }
  // By one lane alone.
  __device__ __forceinline__ int read() {
    const int tile = come();
    barrier_arrive(empty(turn));
    ++turn;
    return tile;
  }
  // By a whole warp.
  __device__ __forceinline__ int read_together() {
    const int tile = __shfl_sync(~0u, come(), 0);  // a number of the warp, said so
    __syncwarp();
    barrier_arrive_if(threadIdx.x % 32 == 0, empty(turn));
    ++turn;
    return tile;
  }
};

// The next tile of this block; the n-th it asks for.
__device__ __forceinline__ int next_tile(const HopperArgs& a, int n) {
  if (n > 0 && !kStays) return a.total;
  return n == 0 ? static_cast<int>(blockIdx.x) : atomicAdd(a.counter, 1) + static_cast<int>(gridDim.x);
}
// The last block to end leaves the counter as it was found.
__device__ __forceinline__ void leave(const HopperArgs& a) {
  if (!kStays) return;
  if (atomicAdd(a.counter + 1, 1) != static_cast<int>(gridDim.x) - 1) return;
  a.counter[0] = 0;
  a.counter[1] = 0;
  __threadfence();
}

}  // namespace attn::gpu
