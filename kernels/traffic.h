// How many bytes an order asks of HBM. Two counts, never mixed:
//   tile loads   every byte the order asks for if nothing were cached (FlashAttention, section 3.2; K and V again
//                for each query tile)
//   compulsory   each element once
// LSE is in every count of every order.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/options.h"
#include "kernels/problem.h"
#include "kernels/recording.h"

namespace attn {

struct KernelRow;

// Bytes by tensor; `stats` is m, l and LSE.
enum class TrafficPart : std::uint8_t { q, k, v, bias, s, p, o, stats };
constexpr std::size_t kTrafficParts = 8;

struct Traffic {
  std::array<std::uint64_t, kTrafficParts> read{};
  std::array<std::uint64_t, kTrafficParts> written{};
  std::uint64_t total() const;
  bool operator==(const Traffic&) const = default;
};

// `o` is resolved. S is fp32, P the problem's dtype. Tiles that the mask skips ask for nothing;
// orders that store S store all of it.
Traffic tile_loads(const KernelRow& row, const Problem& p, const Options& o);
Traffic compulsory(const KernelRow& row, const Problem& p);

// Bytes of the tiles that are on chip at once, by part (P takes the place of S).
std::array<std::uint64_t, kTrafficParts> on_chip_bytes(Order order, const Problem& p, const Options& o);

}  // namespace attn
