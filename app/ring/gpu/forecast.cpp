#include "app/ring/gpu/forecast.h"

#include <algorithm>

namespace attn {
namespace {

// Rows of all heads that a rank merges after a turn, or keys whose dK and dV it adds.
std::int64_t merged_rows(const GpuTurns& turns, std::int64_t rank, std::int64_t n, bool backward) {
  if (n == 0 || turns.turns() == 1) return 0;
  const GpuTurn work = turns.turn(rank, n);
  if (backward) return work.idle() ? 0 : work.keys.count() * turns.kv_heads_of(rank).count();
  // The last merge passes over every row of the rank; one before over those that the turn computed.
  const bool last = n + 1 == turns.turns();
  return (last ? turns.count_of(rank) : work.queries.count()) * turns.heads_of(rank).count();
}

double launch_us(const GpuTurns& turns, std::int64_t rank, std::int64_t n, const RingRates& rates) {
  const GpuTurn work = turns.turn(rank, n);
  // Under a causal mask the short tiles fill the end.
  const double rounds = work.causal        ? 1
                        : rates.backward() ? last_round(work.keys.count(), turns.kv_heads_of(rank).count(), rates)
                                           : last_round(work.queries.count(), turns.heads_of(rank).count(), rates);
  return turns.pairs(rank, n) * rates.us_a_pair * rounds;
}

std::int64_t keys_of(const GpuTurns& turns, std::int64_t rank, std::int64_t n) {
  return turns.count_of(turns.turn(rank, n).share);
}

// K and V of the turn's share, and the sums of the share before.
double travel_us(const GpuTurns& turns, std::int64_t rank, std::int64_t n, const RingRates& rates) {
  if (rates.link_bytes_a_us <= 0 || turns.turns() == 1) return 0;
  double bytes = 0;
  if (n + 1 < turns.turns()) bytes += static_cast<double>(keys_of(turns, rank, n)) * rates.bytes_a_key;
  if (n > 0) bytes += static_cast<double>(keys_of(turns, rank, n - 1)) * rates.sums_bytes_a_key;
  return bytes / rates.link_bytes_a_us;
}

// The way home.
double home_us(const GpuTurns& turns, const RingRates& rates) {
  if (!rates.backward() || turns.turns() == 1) return 0;
  double travel = 0, queries = 0, keys = 0;
  for (std::int64_t rank = 0; rank < turns.ranks; ++rank) {
    const auto own = static_cast<double>(turns.count_of(rank));
    const auto sent = static_cast<double>(keys_of(turns, rank, turns.turns() - 1));
    if (rates.link_bytes_a_us > 0) travel = std::max(travel, sent * rates.sums_bytes_a_key / rates.link_bytes_a_us);
    queries = std::max(queries, own * static_cast<double>(turns.heads) * rates.us_a_rounded_query);
    keys = std::max(keys, own * static_cast<double>(turns.kv_heads) * rates.us_a_rounded_key);
  }
  return std::max(travel, queries) + keys;
}

// Of the way home first dQ is rounded, then dK and dV.
void find_roundings(const RingFindings& f, RingRates& rates) {
  double queries_us = 0, keys_us = 0, rows = 0;
  for (std::size_t n = 0; n < f.ranks.size(); ++n) {
    rows += static_cast<double>(f.turns.count_of(static_cast<std::int64_t>(n)));
    bool first = true;
    for (const RankSpan& s : f.ranks[n].spans) {
      if (s.work != RankWork::compute || s.turn != f.turns.turns()) continue;
      (first ? queries_us : keys_us) += s.length_us();
      first = false;
    }
  }
  if (rows <= 0) return;
  rates.us_a_rounded_query = queries_us / rows / static_cast<double>(f.turns.heads);
  rates.us_a_rounded_key = keys_us / rows / static_cast<double>(f.turns.kv_heads);
}

}  // namespace

RingRates rates_of(const RingFindings& f) {
  const bool backward = f.problem.pass == Pass::backward;
  const auto numbers = static_cast<double>(f.problem.Hkv * (f.problem.D + f.problem.Dv));
  RingRates rates;
  rates.tile_rows = std::max<std::int64_t>(1, backward ? f.opened.options.bc : f.opened.options.br);
  rates.sms = std::max(1, f.opened.sms);
  rates.link_bytes_a_us = f.link_bytes_a_us;
  rates.bytes_a_key = numbers * static_cast<double>(size_of(f.problem.dtype));
  if (backward) rates.sums_bytes_a_key = numbers * sizeof(float);
  GpuTurns one = f.turns;
  one.ranks = 1;
  rates.us_a_pair = 1;
  rates.us_a_pair = f.one_gpu_us / launch_us(one, 0, 0, rates);
  if (f.spared_sms > 0) {
    // The GPU alone had all of its SMs.
    const std::int64_t left = std::max<std::int64_t>(1, rates.sms - f.spared_sms);
    rates.us_a_pair *= static_cast<double>(rates.sms) / static_cast<double>(left);
    rates.sms = left;
  }
  double merge = 0, rows = 0;
  for (std::size_t n = 0; n < f.ranks.size(); ++n) {
    merge += f.ranks[n].merge_us;
    for (std::int64_t turn = 1; turn < f.turns.turns(); ++turn)
      rows += static_cast<double>(merged_rows(f.turns, static_cast<std::int64_t>(n), turn, backward));
  }
  rates.us_a_merged_row = rows > 0 ? merge / rows : 0;
  if (backward && f.turns.turns() > 1) find_roundings(f, rates);
  return rates;
}

double last_round(std::int64_t rows, std::int64_t heads, const RingRates& rates) {
  const std::int64_t tiles = (rows + rates.tile_rows - 1) / rates.tile_rows * heads;
  if (tiles == 0) return 1;
  const std::int64_t rounds = (tiles + rates.sms - 1) / rates.sms;
  return static_cast<double>(rounds * rates.sms) / static_cast<double>(tiles);
}

double forecast_us(const GpuTurns& turns, const RingRates& rates) {
  double all = home_us(turns, rates);
  for (std::int64_t n = 0; n < turns.turns(); ++n) {
    double compute = 0, travel = 0, added = 0;
    for (std::int64_t rank = 0; rank < turns.ranks; ++rank) {
      const double merged = static_cast<double>(merged_rows(turns, rank, n, rates.backward())) * rates.us_a_merged_row;
      compute = std::max(compute, launch_us(turns, rank, n, rates) + (rates.backward() ? 0 : merged));
      travel = std::max(travel, travel_us(turns, rank, n, rates));
      if (rates.backward()) added = std::max(added, merged);
    }
    all += std::max(compute, travel) + added;
  }
  return all;
}

}  // namespace attn
