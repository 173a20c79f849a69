// Copies for tensors of which no tensor map can be made: an address or a stride that is no multiple of 16 bytes (D = 59).
// Q, K and V go to rows that begin on 16 bytes before attention runs, and O leaves such rows after it. Columns beyond
// the last are never looked at, since the maps end with the tensor's own columns.
//
// A warp takes eight rows at once, so that enough loads are under way; a lane takes two neighbours of each.
#pragma once

#include "kernels/gpu/hopper_args.h"

namespace attn::gpu {

constexpr int kCopyWarps = 8, kRowsOfWarp = kCopyRows / kCopyWarps;

__device__ __forceinline__ unsigned load_two(const unsigned short* from, bool pairs, bool both) {
  if (pairs && both) return *reinterpret_cast<const unsigned*>(from);
  const unsigned low = from[0];
  return both ? low | static_cast<unsigned>(from[1]) << 16 : low;
}
__device__ __forceinline__ void store_two(unsigned short* to, unsigned x, bool pairs, bool both) {
  if (pairs && both) {
    *reinterpret_cast<unsigned*>(to) = x;
    return;
  }
  to[0] = static_cast<unsigned short>(x);
  if (both) to[1] = static_cast<unsigned short>(x >> 16);
}

__device__ __forceinline__ void copy_rows(const HopperCopy& c) {
  const unsigned pieces = (c.rows + kCopyRows - 1) / kCopyRows, head = blockIdx.x / pieces;
  if (head >= static_cast<unsigned>(c.batches) * c.heads) return;  // another tensor has more
  const int b = head / c.heads, h = head % c.heads;
  const int row = static_cast<int>(blockIdx.x % pieces) * kCopyRows + threadIdx.x / 32 * kRowsOfWarp;
  const unsigned short* from =
      static_cast<const unsigned short*>(c.from) + b * c.from_b + h * c.from_h + row * c.from_r;
  unsigned short* to = static_cast<unsigned short*>(c.to) + b * c.to_b + h * c.to_h + row * c.to_r;
  const int rows = min(kRowsOfWarp, c.rows - row);
  for (int column = threadIdx.x % 32 * 2; column < c.columns; column += 64) {
    const bool both = column + 1 < c.columns;
    unsigned x[kRowsOfWarp];
#pragma unroll
    for (int i = 0; i < kRowsOfWarp; ++i) {
      x[i] = i < rows ? load_two(from + i * c.from_r + column, c.from_pairs != 0, both) : 0u;
    }
#pragma unroll
    for (int i = 0; i < kRowsOfWarp; ++i) {
      if (i < rows) store_two(to + i * c.to_r + column, x[i], c.to_pairs != 0, both);
    }
  }
}

}  // namespace attn::gpu
