// Which tensors of a problem flash_hopper copies to rows that begin on 16 bytes, since no tensor map can be made of
// them as they lie; where the copies lie in the workspace, and what is launched for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/model/kernel.h"
#include "kernels/model/problem/tensors.h"

namespace attn::gpu {

// Values of the option `copies`. Of an address no plan knows: whoever hands over tensors that do not begin on 16 bytes
// asks for all.
enum class Copies : std::uint8_t { none, needed, all };

// Some stride of Q, K, V or O is no multiple of 16 bytes.
bool needs_copies(const Problem& p);
// Elements of a row of D or Dv in a copy.
std::int64_t padded_columns(std::int64_t columns);

// A tensor and its copy.
struct TensorCopy {
  TensorSpec spec;                    // of the tensor as it lies
  std::vector<std::int64_t> strides;  // of the copy, in elements
  std::uint64_t at = 0;               // bytes from the beginning of the workspace
};
// In the order Q, K, V, O; `from`: the first byte that is free.
std::vector<TensorCopy> copies_of(const Problem& p, Copies copies, std::uint64_t from);
const TensorCopy* find(const std::vector<TensorCopy>& copies, Tensor t);
// Where the last of them ends.
std::uint64_t end_of(const std::vector<TensorCopy>& copies, std::uint64_t from);

// The launches before and after attention's, none where nothing is copied.
std::vector<Launch> copy_launches(const std::vector<TensorCopy>& copies, Role role);

// "Q, K and V copied to rows of 128 bytes": a clause of the reason; empty without copies.
std::string words_of(const Problem& p, Copies copies);

}  // namespace attn::gpu
