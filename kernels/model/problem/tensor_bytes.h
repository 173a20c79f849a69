// A problem's tensors as bytes in the host's memory: how they travel to a device or another process and come back. In
// a block they follow each other in the order of Tensor, each in C order, without gaps.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/base/result.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/tensors.h"

namespace attn {

// Not owned; empty: it is not given.
using TensorBytes = ByTensor<std::span<const std::byte>>;

TensorBytes tensor_bytes_of(const Inputs& in);
// Of these, what the problem's kernel reads: a training step makes its own O and LSE, whatever stands beside.
TensorBytes tensor_bytes_of(const Inputs& in, const Problem& p);
// Those of a block that has all that a problem's kernel reads, but what stands in the problem itself. Refused where the
// block's size is not theirs.
Result<TensorBytes> split_inputs(const Problem& p, std::span<const std::byte> block);
// Those that are given.
std::vector<std::span<const std::byte>> parts_of(const TensorBytes& tensors);
std::vector<std::span<const std::byte>> parts_of(const Outputs& out);

// Of the problem's shapes, not filled: what its pass writes, and a place for delta.
Outputs empty_outputs(const Problem& p);
// Fills them from the block's beginning; how many bytes that were. 0: the block is too short, and nothing was filled.
std::size_t take_outputs(std::span<const std::byte> block, Outputs& out);
// The bytes of every output are the same.
bool same_bits(const Outputs& a, const Outputs& b);

}  // namespace attn
