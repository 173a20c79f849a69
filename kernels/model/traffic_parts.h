// Bytes told apart by the tensor that they belong to: what moves, how large a tile's parts are, what lies on chip.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/model/problem/problem.h"

namespace attn {

// Bytes by tensor; `stats` is m, l and LSE.
enum class TrafficPart : std::uint8_t { q, k, v, bias, s, p, o, stats };
constexpr std::size_t kTrafficParts = 8;

struct Traffic {
  std::array<std::uint64_t, kTrafficParts> read{};
  std::array<std::uint64_t, kTrafficParts> written{};
  std::uint64_t total() const;
  std::uint64_t of(TrafficPart part) const;  // read + written
  Traffic& operator+=(const Traffic& other);
  bool operator==(const Traffic&) const = default;
};

// Sizes of one tile's parts, in bytes: S, statistics and what is summed (O; of a backward dQ, dK, dV) are fp32, P and
// the rest of the problem's dtype.
struct TileBytes {
  std::uint64_t q = 0, k = 0, v = 0, bias = 0, s = 0, p = 0, o = 0, o_state = 0, stat = 0, k_sum = 0, v_sum = 0,
                q_sum = 0;
};
TileBytes tile_bytes(const Problem& p, std::int64_t rows, std::int64_t cols);

// Bytes of tiles that are on chip at once.
using OnChip = std::array<std::uint64_t, kTrafficParts>;

}  // namespace attn
