// Which tile of keys a block takes, and which query tiles it meets there: the schedule.
// With `deterministic`, blocks take their keys by ticket, and the query tiles come from the last to the first.
#pragma once

#include "kernels/gpu/backward.cuh"
#include "kernels/gpu/backward_ahead.cuh"
#include "kernels/gpu/backward_turns.cuh"
#include "kernels/gpu/bwd_hopper_block.cuh"

namespace attn::gpu {

constexpr bool kDown = ATTN_DETERMINISTIC != 0;
constexpr int64 kStride = kDown ? -kBwdQueries : kBwdQueries;  // to the next query tile

// What is counted from a tile of keys fits in 32 bits; beyond all rows and keys, any number will do.
__device__ __forceinline__ int near(int64 x) {
  constexpr int64 kFar = 1 << 30;
  return static_cast<int>(x > kFar ? kFar : x < -kFar ? -kFar : x);
}

// What a block does: a tile of keys, and the query tiles that see some key of it.
struct Work {
  int64 c0, length;        // its first key; keys of the batch
  int kv, batch, tile;     // head of keys, of all; batch; number of the tile
  int64 head;              // the first query head
  int64 turns;             // query tiles of all its heads
  int64 start_r0, end_r0;  // of each head from here until there, by kStride

  __device__ __forceinline__ Work(const Args& a, const KeyTile& mine) {
    kv = static_cast<int>(mine.kv), tile = static_cast<int>(mine.tile);
    batch = kv / static_cast<int>(a.Hkv);
    const int64 group = a.Hq / a.Hkv;
    head = batch * a.Hq + (kv - batch * a.Hkv) * group;
    c0 = int64{mine.tile} * kBwdKeys;
    length = key_length(a, head);
    int64 begin = 0, many = 0;
    if (c0 < length) {
      const int64 c_last = (c0 + kBwdKeys < length ? c0 + kBwdKeys : length) - 1;
      const int64 first = first_row(a, c0), last = last_row(a, length, c_last);
      begin = first / kBwdQueries;
      many = last > first ? (last + kBwdQueries - 1) / kBwdQueries - begin : 0;
    }
    turns = group * many;
    start_r0 = (kDown ? begin + many - 1 : begin) * kBwdQueries;
    end_r0 = start_r0 + many * kStride;
  }
  // Whether the query tile from row r0 on sees some key of it.
  __device__ __forceinline__ bool takes(int64 r0) const {
    return kDown ? r0 > end_r0 && r0 <= start_r0 : r0 >= start_r0 && r0 < end_r0;
  }
  __device__ __forceinline__ void next(int64& head, int64& r0) const {
    r0 += kStride;
    if (r0 == end_r0) {
      r0 = start_r0;
      ++head;
    }
  }
};

// A tile of queries, in the launch of the rows: its first row of all, with those that pad each head's last tile; its
// head; its first row there.
struct QueryTile {
  int64 n, head, r0;

  __device__ __forceinline__ explicit QueryTile(const BackwardArgs& g) {
    n = int64{blockIdx.x} * kBwdQueries, head = n / g.rows, r0 = n - head * g.rows;
  }
};

#if ATTN_DETERMINISTIC
// Heads side by side, as in backward_turns.cuh, but no more than the second-level cache has room for: all their blocks
// add to sums that they come back to.
__device__ inline KeyTile tile_of(const Args& a, unsigned ticket, unsigned tiles) {
  constexpr unsigned kLeast = 8, kMost = 64;
  constexpr int64 kBytes = int64{16} << 20, kOfRow = 8 * ATTN_D;  // Q, dO, and dQ in fp32
  const unsigned heads = static_cast<unsigned>(a.B * a.Hkv);
  const int64 fit = kBytes / ((a.Lq > 0 ? a.Lq : 1) * (a.Hq / a.Hkv) * kOfRow);
  const unsigned side = fit < kLeast ? kLeast : fit > kMost ? kMost : static_cast<unsigned>(fit);
  const unsigned first = ticket / (side * tiles) * side, rest = ticket - first * tiles;
  const unsigned together = heads - first < side ? heads - first : side;
  return {first + rest % together, rest / together};
}
#endif

// The block's keys. `shared`: room for a number.
__device__ __forceinline__ KeyTile own_keys(const Args& a, const BackwardArgs& g, unsigned tiles, void* shared) {
#if ATTN_DETERMINISTIC
  wait_for_launch_before();  // tickets and turns
  return tile_of(a, take_ticket(g.turns, static_cast<int*>(shared)), tiles);
#else
  return {blockIdx.x / tiles, blockIdx.x % tiles};
#endif
}

}  // namespace attn::gpu
