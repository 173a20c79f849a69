#include "app/ring/gpu/forecast.h"

#include <algorithm>

namespace attn {

double last_round(std::int64_t queries, std::int64_t heads, const RingRates& rates) {
  const std::int64_t tiles = (queries + rates.tile_rows - 1) / rates.tile_rows * heads;
  if (tiles == 0) return 1;
  const std::int64_t rounds = (tiles + rates.sms - 1) / rates.sms;
  return static_cast<double>(rounds * rates.sms) / static_cast<double>(tiles);
}

double forecast_us(const GpuTurns& turns, const RingRates& rates) {
  double all = 0;
  for (std::int64_t n = 0; n < turns.turns(); ++n) {
    double compute = 0, travel = 0;
    for (std::int64_t rank = 0; rank < turns.ranks; ++rank) {
      // The last merge passes over every row of the rank; one before over those that the turn computed.
      const bool last = n + 1 == turns.turns();
      const std::int64_t rows = turns.turns() == 1 || n == 0 ? 0
                                : last                       ? turns.count_of(rank)
                                                             : turns.turn(rank, n).queries.count();
      const double merged = static_cast<double>(rows * turns.heads_of(rank).count());
      const GpuTurn work = turns.turn(rank, n);
      const std::int64_t heads = turns.heads_of(rank).count();
      // Under a causal mask the short tiles fill the end.
      const double rounds = work.causal ? 1 : last_round(work.queries.count(), heads, rates);
      compute = std::max(compute, turns.pairs(rank, n) * rates.us_a_pair * rounds + merged * rates.us_a_merged_row);
      if (last || rates.link_bytes_a_us <= 0) continue;
      const auto keys = static_cast<double>(turns.count_of(turns.turn(rank, n).share));
      travel = std::max(travel, keys * rates.bytes_a_key / rates.link_bytes_a_us);
    }
    all += std::max(compute, travel);
  }
  return all;
}

}  // namespace attn
