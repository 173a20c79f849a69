// A sequence, or its heads, dealt to GPUs: who has which rows, and what a GPU computes in which turn. K and V of a rank
// travel to the right as on the CPU (kernels/model/ring.h); but a turn is one launch of a whole kernel.
//
// Zigzag: of 2 N chunks rank r has numbers r and 2 N - 1 - r, one behind the other, so its own rows are in the order of
// the sequence and turn 0 is causal as it is. A share of a lower rank: its first chunk lies before all of our rows and
// its second behind them. A share of a higher rank: all of it lies before our second chunk and behind our first.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "app/ring/dealt_rows.h"

namespace attn {

enum class GpuDeal : std::uint8_t { in_order, zigzag, heads };
inline constexpr std::string_view kGpuDeals[] = {"in_order", "zigzag", "heads"};

// What a rank does in a turn; rows count from the first of its own queries and of the share.
struct GpuTurn {
  std::int64_t share = 0;  // whose keys
  DealtRows queries, keys;
  bool causal = false;
  bool idle() const { return queries.count() == 0 || keys.count() == 0; }
  // Query-key pairs of a head that the mask lets see.
  double pairs() const;
  bool operator==(const GpuTurn& other) const;
};

struct GpuTurns {
  std::int64_t ranks = 1;
  GpuDeal deal = GpuDeal::zigzag;
  bool causal = false;
  std::int64_t length = 1;  // queries and keys
  std::int64_t heads = 1, kv_heads = 1;

  // 1 where heads are dealt: nothing travels.
  std::int64_t turns() const { return deal == GpuDeal::heads ? 1 : ranks; }
  // Into how many pieces rows or heads of keys are cut, and into how many they can be.
  std::int64_t pieces() const { return deal == GpuDeal::zigzag ? 2 * ranks : ranks; }
  std::int64_t most_pieces() const { return deal == GpuDeal::heads ? kv_heads : length; }
  // Of the sequence, in its order.
  std::vector<DealtRows> rows_of(std::int64_t rank) const;
  std::int64_t count_of(std::int64_t rank) const;
  std::int64_t most_rows() const;
  // Heads [first, last) of Q, and of K and V.
  DealtRows heads_of(std::int64_t rank) const;
  DealtRows kv_heads_of(std::int64_t rank) const;
  GpuTurn turn(std::int64_t rank, std::int64_t n) const;
  // Of all heads of a rank in a turn.
  double pairs(std::int64_t rank, std::int64_t n) const;
};

}  // namespace attn
