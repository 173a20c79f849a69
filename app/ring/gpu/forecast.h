// How long a ring of N GPUs takes, from what one GPU and one link do: a turn takes as long as the slowest rank computes
// in it, or as the slowest rank sends, whichever is longer; its merges come on top. A launch computes whole tiles of
// queries, of a backward those of keys, one a multiprocessor at a time: where all tiles take equally long, the last
// round of them is paid in full.
//
// In a backward a turn sends K and V of its share, and the sums of the share before. These are awaited in the turn that
// adds to them. After the last turn they travel once more, home, while dQ is rounded, and then are rounded themselves.
#pragma once

#include <cstdint>
#include <span>

#include "app/ring/gpu/messages.h"
#include "app/ring/gpu/turns.h"

namespace attn {

struct RingRates {
  double us_a_pair = 0;        // of a query-key pair of a head, without what a last round leaves idle
  std::int64_t tile_rows = 1;  // queries of a tile; of a backward keys
  std::int64_t sms = 1;
  double link_bytes_a_us = 0;  // of a plain copy to the neighbour while all copy
  double us_a_merged_row = 0;  // a row of a head; of a backward a key whose dK and dV are added
  double bytes_a_key = 0;      // of K and V, all heads
  // Of a backward alone.
  double sums_bytes_a_key = 0;                          // of dK and dV, all heads
  double us_a_rounded_query = 0, us_a_rounded_key = 0;  // dQ; dK and dV; of a head

  bool backward() const { return sums_bytes_a_key > 0; }
};

// What a ring and one GPU measured.
struct RingFindings {
  const Problem& problem;
  const GpuTurns& turns;
  const GpuOpened& opened;  // a rank's
  double one_gpu_us = 0, link_bytes_a_us = 0;
  std::int64_t spared_sms = 0;            // that a launch in the ring leaves to NCCL
  std::span<const GpuRankTimes> ranks{};  // of one run
};
RingRates rates_of(const RingFindings& f);

// How many times as long a launch takes as its pairs say; `rows` of queries, or of a backward's keys.
double last_round(std::int64_t rows, std::int64_t heads, const RingRates& rates);
// Microseconds. `rates.link_bytes_a_us` 0: travelling is free.
double forecast_us(const GpuTurns& turns, const RingRates& rates);

}  // namespace attn
