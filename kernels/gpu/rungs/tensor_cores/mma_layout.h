// Where things lie in a tensor-core tile: which lane and register of a warp holds an element (PTX ISA, "Matrix
// fragments for mma.m16n8k16"), and at which 16 bytes of shared memory ldmatrix finds it. Compiled by the program (the
// Fragments chart, the tests) and by NVRTC (the kernels): one place, so picture and kernel cannot disagree.
//
// Shared memory is counted in chunks of 16 bytes: eight 16-bit elements of a row, what ldmatrix reads as one row of a
// matrix of 8 x 8. A row is `width` chunks. The eight rows of a matrix must lie in different groups of four banks (a
// chunk's number mod 8), so the chunks of a row change places with its number: an exclusive or with some of its bits.
#pragma once

namespace attn::gpu {

// An element of a fragment: register `reg` of lane `lane`, its low (0) or high (1) half where elements are 16 bits.
struct FragmentPlace {
  int lane, reg, half;
};

// A: 16 rows x 16 of the summed axis, four registers of two elements. Q, and P.
constexpr FragmentPlace fragment_a(int row, int k) {
  return {row % 8 * 4 + k % 8 / 2, row / 8 + k / 8 * 2, k % 2};
}
// B: 16 of the summed axis x 8 columns, two registers of two elements. K transposed, and V.
constexpr FragmentPlace fragment_b(int k, int column) {
  return {column * 4 + k % 8 / 2, k / 8, k % 2};
}
// C: 16 rows x 8 columns, four registers of one fp32. S, and O. Two of them side by side are A's order: this is why P
// needs no way through memory.
constexpr FragmentPlace fragment_c(int row, int column) {
  return {row % 8 * 4 + column / 2, column % 2 + row / 8 * 2, 0};
}

// Bits of the row's number that are mixed in, and from which bit on: with a row of 8 (or 16, 24 ...) chunks all eight
// rows of a matrix begin in the same banks, with 4 (or 12 ...) every second does, with 2 every fourth.
constexpr int swizzle_mask(int width) {
  return width % 8 == 0 ? 7 : width % 4 == 0 ? 3 : 1;
}
constexpr int swizzle_shift(int width) {
  return width % 8 == 0 ? 0 : width % 4 == 0 ? 1 : 2;
}
// Where chunk `chunk` of row `row` lies. `width` is even.
constexpr int swizzled(int row, int chunk, int width) {
  return row * width + (chunk ^ (row >> swizzle_shift(width) & swizzle_mask(width)));
}

// ldmatrix x4 reads four matrices of 8 x 8; lane l names row l % 8 of matrix l / 8, whose elements arrive in register
// l / 8. Which row and chunk of a 16 x 16 piece lane l must name:
// for A (rows x k, row-major), and for B stored as k x columns (V, read with .trans):
constexpr int ldmatrix_row(int lane) {
  return lane % 16;
}
constexpr int ldmatrix_chunk(int lane) {
  return lane / 16;
}
// for B stored as columns x k (K): registers 0 and 1 are the first eight keys, 2 and 3 the next.
constexpr int ldmatrix_row_of_k(int lane) {
  return lane / 16 * 8 + lane % 8;
}
constexpr int ldmatrix_chunk_of_k(int lane) {
  return lane / 8 % 2;
}

}  // namespace attn::gpu
