// How an operand of wgmma lies in shared memory, and the 64 bits that say so. PTX ISA, "Matrix Descriptor".
//
// A tile of R rows is panels of [R][64] 16-bit numbers, 128 bytes a row, on a multiple of 1024 bytes. Within a panel the
// 16-byte chunk c of row r lies at chunk c ^ (r % 8) ("128-byte swizzle"): eight rows of one column lie in eight
// different banks. TMA writes it so, wgmma reads it so, and only who stores by hand has to know.
//   by rows     (Q, K: the sum runs along a row)      next 8 rows 1024 bytes on; next 16 columns 32 bytes on within a
//                                                     panel, and the next panel R * 128
//   by columns  (V: the sum runs down the rows)       next 8 rows 1024 bytes on, next 64 columns R * 128; the next 16
//                                                     rows of the sum begin 2048 bytes on
#pragma once

namespace attn::gpu {

using Descriptor = unsigned long long;

__device__ __forceinline__ Descriptor descriptor(unsigned address, unsigned leading, unsigned stride) {
  constexpr Descriptor kSwizzle128 = 1ull << 62;
  return static_cast<Descriptor>((address & 0x3ffff) >> 4) | static_cast<Descriptor>(leading >> 4) << 16 |
         static_cast<Descriptor>(stride >> 4) << 32 | kSwizzle128;
}
__device__ __forceinline__ Descriptor by_rows(unsigned address) {
  return descriptor(address, 16, 1024);  // the leading step is not looked at
}
__device__ __forceinline__ Descriptor by_columns(unsigned address, int rows) {
  return descriptor(address, rows * 128, 1024);
}
// `bytes` further on in the same tile or ring.
__device__ __forceinline__ Descriptor further(Descriptor d, int bytes) {
  return d + (bytes >> 4);
}
// Where chunk c of row r lies in its panel.
__device__ __forceinline__ int swizzled_chunk(int row, int chunk) {
  return row * 128 + ((chunk ^ (row & 7)) << 4);
}

}  // namespace attn::gpu
