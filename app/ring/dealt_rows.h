// A rank's rows of a tensor [B, H, L, width] as one block of bytes: a head after the other, of each its chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/array.h"
#include "kernels/model/options.h"
#include "kernels/model/problem/problem.h"
#include "kernels/model/problem/tensors.h"
#include "kernels/model/ring.h"

namespace attn {

// Rows [first, last) of every head.
struct DealtRows {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};

// Of `tiles`, cut as the ring cuts them; `side`: rows of a tile, `length` of a head.
std::vector<DealtRows> dealt_to(const Ring& ring, const KeyParts& tiles, std::int64_t rank, std::int64_t side,
                                std::int64_t length);

// A problem dealt to the ranks of a ring; `o` are resolved.
struct DealtProblem {
  Tiling tiles;
  Ring ring;
  std::int64_t queries = 1, keys = 1;

  DealtProblem(const Problem& p, const Options& o);
  std::vector<DealtRows> query_rows(std::int64_t rank) const {
    return dealt_to(ring, ring.queries(), rank, tiles.br, queries);
  }
  std::vector<DealtRows> key_rows(std::int64_t rank) const { return dealt_to(ring, ring.keys(), rank, tiles.bc, keys); }
};

// Of its queries' rows: what a rank is given, and what it answers; then what it answers of its own keys' rows.
std::span<const Tensor> given_of_queries(Pass pass);
std::span<const Tensor> answered_of_queries(Pass pass);
std::span<const Tensor> answered_of_keys(Pass pass);

std::size_t dealt_bytes(const Array& tensor, std::span<const DealtRows> rows);
// Appended to `block`.
void take_dealt(const Array& tensor, std::span<const DealtRows> rows, std::vector<std::byte>& block);
// Back in their places; `block` has dealt_bytes() of them.
void put_dealt(std::span<const std::byte> block, std::span<const DealtRows> rows, Array& tensor);

}  // namespace attn
