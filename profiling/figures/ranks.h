// A point that ran on several devices: who they were, what travelled between them. docs/attn.md, version 3.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/problem/tensors.h"

namespace attn {

// How the work is dealt: rows of the sequence in order or as a zigzag (so that a causal mask costs each the same), or
// heads.
enum class Dealing : std::uint8_t { in_order, zigzag, heads };
enum class Carrier : std::uint8_t { copy_engine, nccl, sockets };

// What a rank did in a turn.
enum class RankWork : std::uint8_t { compute, send, receive, wait };
constexpr std::array<std::string_view, 4> kRankWorks{"compute", "send", "receive", "wait"};
constexpr std::string_view name_of(RankWork work) {
  return kRankWorks[static_cast<std::size_t>(work)];
}

struct RankSpan {
  RankWork work = RankWork::compute;
  std::int64_t turn = 0;
  double begin_us = 0, end_us = 0;

  double length_us() const { return end_us - begin_us; }
  bool operator==(const RankSpan&) const = default;
};

struct Rank {
  std::string device, device_uuid;  // the latter may be empty
  double start_us = 0, end_us = 0;  // after the first of all ranks began
  std::uint64_t sent_bytes = 0;
  double send_us = 0;             // that sending took, waits for the neighbour to take it included; 0 = not kept
  std::vector<RankSpan> spans{};  // of the run with the median time, in any order; empty = not kept
  bool operator==(const Rank&) const = default;
};

// How long a model says that so many devices take. Its rates are measured together with the row: one device's time,
// the link and a merge.
struct RanksForecast {
  std::int64_t ranks = 0;
  double us = 0;
  bool operator==(const RanksForecast&) const = default;
};

struct Ranks {
  Dealing dealing = Dealing::in_order;
  Carrier carrier = Carrier::copy_engine;
  std::vector<Tensor> travels;
  std::vector<Rank> devices;  // rank n is devices[n]
  double one_rank_us = 0;     // median of one rank with the whole problem, measured the same way; 0 = not measured
  double link_gb_per_s = 0;   // of a plain copy to the neighbour while all copy; 0 = not measured
  std::vector<RanksForecast> forecasts{};  // each number of devices once; empty = there is no model
  bool operator==(const Ranks&) const = default;
};

constexpr std::size_t kMaxRanks = 1024;
constexpr std::size_t kMaxRankSpans = 16384;  // of all ranks of a row: 64 ranks have 16 256
constexpr std::int64_t kMaxTurns = 1024;
constexpr std::size_t kMaxRanksForecasts = 64;

// The sum of the spans of one kind.
inline double us_of(const std::vector<RankSpan>& spans, RankWork work) {
  double us = 0;
  for (const RankSpan& s : spans) us += s.work == work ? s.length_us() : 0;
  return us;
}

}  // namespace attn
