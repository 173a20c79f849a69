#include "app/ring/gpu/turns.h"

#include <algorithm>

namespace attn {
namespace {

DealtRows piece(std::int64_t of, std::int64_t pieces, std::int64_t n) {
  return {of * n / pieces, of * (n + 1) / pieces};
}

}  // namespace

double GpuTurn::pairs() const {
  const auto q = static_cast<double>(queries.count()), k = static_cast<double>(keys.count());
  return causal ? q * (q + 1) / 2 : q * k;
}

bool GpuTurn::operator==(const GpuTurn& other) const {
  const auto same = [](const DealtRows& a, const DealtRows& b) { return a.first == b.first && a.last == b.last; };
  return share == other.share && same(queries, other.queries) && same(keys, other.keys) && causal == other.causal;
}

std::vector<DealtRows> GpuTurns::rows_of(std::int64_t rank) const {
  switch (deal) {
    case GpuDeal::in_order:
      return {piece(length, ranks, rank)};
    case GpuDeal::zigzag:
      return {piece(length, 2 * ranks, rank), piece(length, 2 * ranks, 2 * ranks - 1 - rank)};
    case GpuDeal::heads:
      break;
  }
  return {{0, length}};
}

std::int64_t GpuTurns::count_of(std::int64_t rank) const {
  std::int64_t count = 0;
  for (const DealtRows& rows : rows_of(rank)) count += rows.count();
  return count;
}

std::int64_t GpuTurns::most_rows() const {
  std::int64_t most = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) most = std::max(most, count_of(rank));
  return most;
}

// Heads that share keys stay together.
DealtRows GpuTurns::kv_heads_of(std::int64_t rank) const {
  return deal == GpuDeal::heads ? piece(kv_heads, ranks, rank) : DealtRows{0, kv_heads};
}

DealtRows GpuTurns::heads_of(std::int64_t rank) const {
  const DealtRows kv = kv_heads_of(rank);
  const std::int64_t group = heads / kv_heads;
  return {kv.first * group, kv.last * group};
}

GpuTurn GpuTurns::turn(std::int64_t rank, std::int64_t n) const {
  const std::int64_t share = (rank + ranks - n % ranks) % ranks;
  const DealtRows queries{0, count_of(rank)}, keys{0, count_of(share)};
  if (n == 0 || !causal) return {share, queries, keys, causal};
  const DealtRows nothing{};
  if (deal == GpuDeal::in_order) return {share, share < rank ? queries : nothing, share < rank ? keys : nothing, false};
  if (share < rank) return {share, queries, {0, rows_of(share).front().count()}, false};
  return {share, {rows_of(rank).front().count(), queries.last}, keys, false};
}

double GpuTurns::pairs(std::int64_t rank, std::int64_t n) const {
  return turn(rank, n).pairs() * static_cast<double>(heads_of(rank).count());
}

}  // namespace attn
