// How long a ring of N GPUs takes, from what one GPU and one link do: a turn takes as long as the slowest rank computes
// in it, or as the slowest share travels, whichever is longer; its merges come on top. A launch computes whole tiles of
// queries, one a multiprocessor at a time: where all tiles take equally long, the last round of them is paid in full.
#pragma once

#include <cstdint>

#include "app/ring/gpu/turns.h"

namespace attn {

struct RingRates {
  double us_a_pair = 0;        // of a query-key pair of a head, without what a last round leaves idle
  std::int64_t tile_rows = 1;  // queries of a tile
  std::int64_t sms = 1;
  double link_bytes_a_us = 0;  // of a plain copy to the neighbour while all copy
  double us_a_merged_row = 0;  // a row of a head
  double bytes_a_key = 0;      // of K and V, all heads
};

// How many times as long a launch takes as its pairs say.
double last_round(std::int64_t queries, std::int64_t heads, const RingRates& rates);
// Microseconds. `rates.link_bytes_a_us` 0: travelling is free.
double forecast_us(const GpuTurns& turns, const RingRates& rates);

}  // namespace attn
