// What the fragments of the tensor-core rungs have in common (kernels/model/fragments.h). The reads of shared memory
// are those of mma_layout.h, which the kernels are compiled with.
#pragma once

#include <string_view>

#include "kernels/base/text.h"
#include "kernels/model/fragments.h"

namespace attn::gpu {

// Which row, or chunk of 16 bytes, lane l names to ldmatrix.
using OfLane = int (*)(int lane);

// What ldmatrix x4 gives: lane l names row l % 8 of matrix l / 8 by an address; that row's sixteen bytes go to four
// lanes, four to each, in the order of the row, as register l / 8 (PTX ISA, ldmatrix). `bytes`: of an element.
ElementPlace by_ldmatrix(OfLane row_of, OfLane chunk_of, std::int32_t row, std::int32_t column, std::int32_t bytes);
// The same with .trans: the matrix of eight by eight elements of 16 bits arrives transposed.
ElementPlace by_ldmatrix_transposed(OfLane row_of, OfLane chunk_of, std::int32_t row, std::int32_t column);
// Two fragments of C side by side, four registers each.
ElementPlace in_two_sums(std::int32_t row, std::int32_t column);

// The byte at which a chunk of 16 lies: with the swizzle of mma_layout.h, or one row after the other.
std::int32_t byte_of(std::int32_t row, std::int32_t chunk, std::int32_t width, bool swizzled);
// A matrix of ldmatrix a moment: eight rows of 16 bytes.
SharedUse read_by_ldmatrix(OfLane row_of, OfLane chunk_of, std::int32_t width, bool swizzled);

// As the PTX manual counts them: A's and C's a0 and c0 on, of two sums the second's with a mark.
std::string register_of_a(const ElementPlace& place);
std::string register_of_c(const ElementPlace& place);

// Texts of more than one rung.
inline constexpr std::string_view kOneRead = marked("One ldmatrix of four matrices takes");
inline constexpr std::string_view kNeverShared = marked("Never in shared memory: computed and used in registers.");

// Two sums side by side, which never lie in shared memory: S, and O until it leaves.
FragmentRow two_sums(std::string_view operand, std::string_view words);
// P of 16-bit elements as operand A, just where S was.
FragmentRow weights_in_a(std::string_view operand, std::string_view words);

}  // namespace attn::gpu
